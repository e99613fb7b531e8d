// The studio: connects the server and mounts the page.
import { mount } from "svelte";
import "./base.css";
import "./app.css";
import App from "./App.svelte";
import { connect } from "./lib/api";
import { server } from "./lib/server";
import { views } from "./routes";

connect(server);
mount(App, { target: document.getElementById("app")!, props: { views } });
