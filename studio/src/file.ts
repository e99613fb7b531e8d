// A self-contained page: documents inside the file, the same components, no server.
import { mount } from "svelte";
import "./base.css";
import "./file.css";
import FilePage from "./FilePage.svelte";

const documents = JSON.parse(document.getElementById("documents")!.textContent!);
const target = document.getElementById("view");
if (target && documents.length) {
  target.replaceChildren(); // the tables of a page whose script does not run
  mount(FilePage, { target, props: { documents } });
}

// Only what really scrolls becomes a tab stop, with a name.
function nameScrollers(): void {
  for (const node of document.querySelectorAll<HTMLElement>(".scroll[data-name]")) {
    const scrolls = node.scrollWidth > node.clientWidth + 1;
    const given = { tabindex: "0", role: "region", "aria-label": node.dataset.name! };
    for (const [name, value] of Object.entries(given)) scrolls ? node.setAttribute(name, value) : node.removeAttribute(name);
  }
}
addEventListener("resize", nameScrollers);
nameScrollers();
