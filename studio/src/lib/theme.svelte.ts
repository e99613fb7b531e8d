// Light, dark or the system's choice. `dark` is what is shown now; canvases redraw when it changes.

export type Choice = "system" | "light" | "dark";

const KEY = "regard-theme";
const media = matchMedia("(prefers-color-scheme: dark)");

function stored(): Choice {
  try {
    const found = localStorage.getItem(KEY);
    return found === "light" || found === "dark" ? found : "system";
  } catch {
    return "system";
  }
}

class Theme {
  choice = $state<Choice>(stored());
  #system = $state(media.matches);
  dark = $derived(this.choice === "system" ? this.#system : this.choice === "dark");

  constructor() {
    media.addEventListener("change", () => (this.#system = media.matches));
  }

  set(choice: Choice): void {
    this.choice = choice;
    try {
      if (choice === "system") localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, choice);
    } catch {
      // a file opened from the disk may have no storage
    }
  }
}

export const theme = new Theme();
