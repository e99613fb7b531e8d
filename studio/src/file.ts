// A self-contained page: documents inside the file, the same components, no server.
import { mount } from "svelte";
import "./base.css";
import FilePage from "./FilePage.svelte";

const { title, facts, documents } = JSON.parse(document.getElementById("documents")!.textContent!);
mount(FilePage, { target: document.getElementById("view")!, props: { title, facts, documents } });
