// The page that translates without a server: the views Translate and Walk, and `regard` for programs in the page.
import { mount } from "svelte";
import "../base.css";
import "../app.css";
import App from "../App.svelte";
import { connect } from "../lib/api";
import type { TranslateRequest, Translation } from "../lib/types";
import type { Occlusion, StepAnswer } from "../lib/view_types";
import Translate from "../views/Translate.svelte";
import Walk from "../views/Walk.svelte";
import { browser } from "./backend";
import { keepOffline, offline } from "./load_file";
import Loading from "./Loading.svelte";
import { check } from "./options";
import type { Encoding } from "./tokenizer";

const views = [
  { name: "translate", title: "Translate", load: async () => ({ default: Translate }) },
  { name: "walk", title: "Walk", load: async () => ({ default: Walk }) },
];

/** For the console and for other scripts: regard.translate({ model: "en-fr", text: "…" }). */
const regard = {
  translate: (request: TranslateRequest) => browser.request<Translation>("POST", "/translate", request),
  step: (request: TranslateRequest & { step: number }) => browser.request<StepAnswer>("POST", "/step", request),
  occlusion: (request: TranslateRequest) => browser.request<Occlusion>("POST", "/occlusion", request),
  many: async (model: string, texts: string[], beam?: number | null, together?: number | null) => {
    check("many", { model, texts, beam, together });
    return browser.send<string[]>("many", { texts, beam: beam ?? 1, together: together ?? 16 }, await browser.open(model));
  },
  tokens: async (model: string, texts: string[], target?: boolean | null) => {
    check("tokens", { model, texts, target });
    return browser.send<Encoding[]>("tokens", { texts, target }, await browser.open(model));
  },
};
Object.assign(globalThis, { regard });

connect(browser);
mount(Loading, { target: document.getElementById("loading")! });
mount(App, { target: document.getElementById("app")!, props: { views } });

// Where a page may have a service worker (https, or this machine), everything that was loaded once works offline.
if (offline) {
  navigator.serviceWorker.register("sw.js").catch(() => undefined);
  keepOffline(() => performance.getEntriesByType("resource").map((one) => one.name));
}
