// The models of the server, loaded once and again when a run ends.
import { explained, get } from "./api";
import type { ModelAbout, Models } from "./types";

class Catalogue {
  models = $state.raw<ModelAbout[]>([]);
  default = $state<string | null>(null);
  limits = $state.raw<Models["limits"] | null>(null);
  attentionFiles = $state(0);
  problem = $state<string | null>(null);
  ready = $state(false);

  async load(): Promise<void> {
    try {
      const answer = await get<Models>("/models");
      this.models = answer.models;
      this.default = answer.default ?? answer.models[0]?.id ?? null;
      this.limits = answer.limits;
      this.attentionFiles = answer.attention_files;
      this.problem = null;
    } catch (error) {
      this.problem = explained(error);
    }
    this.ready = true;
  }

  find(id: string | null): ModelAbout | undefined {
    return this.models.find((model) => model.id === id);
  }
}

export const catalogue = new Catalogue();
