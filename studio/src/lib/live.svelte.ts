// The one live region of the page: say("…") is spoken by a screen reader.

class Live {
  text = $state("");
}

export const live = new Live();

export function say(text: string): void {
  live.text = text;
}
