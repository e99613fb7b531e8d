// The views of the studio: one file in views/ and one line here each. A view is loaded when it is opened.
import type { Component } from "svelte";
import Translate from "./views/Translate.svelte";

export interface View {
  name: string;
  title: string;
  load: () => Promise<{ default: Component }>;
  /** Whether the navigation offers it; always if left out. */
  when?: (server: { attentionFiles: number }) => boolean;
}

export const views: View[] = [
  { name: "translate", title: "Translate", load: async () => ({ default: Translate }) },
  { name: "walk", title: "Walk", load: () => import("./views/Walk.svelte") },
  { name: "compare", title: "Compare", load: () => import("./views/Compare.svelte") },
  { name: "beam", title: "Beam", load: () => import("./views/Beam.svelte") },
  { name: "quality", title: "Quality", load: () => import("./views/Quality.svelte") },
  { name: "triage", title: "Triage", load: () => import("./views/Triage.svelte") },
  { name: "neighbours", title: "Neighbours", load: () => import("./views/Neighbours.svelte") },
  { name: "train", title: "Train", load: () => import("./views/Train.svelte") },
  { name: "learn", title: "Learn", load: () => import("./views/Learn.svelte") },
  {
    name: "attention",
    title: "Your own",
    load: () => import("./views/Attention.svelte"),
    when: (server) => server.attentionFiles > 0,
  },
];
