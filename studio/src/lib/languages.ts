// Names of languages, from the browser.
const names = new Intl.DisplayNames("en", { type: "language", fallback: "code" });

/** " (Hindi)" behind a label; nothing where the language is unknown. */
export const inLanguage = (code: string | null | undefined): string => (code ? ` (${names.of(code)})` : "");
