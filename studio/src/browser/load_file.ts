// Loads a compressed file that stands in a script as a string: by fetch, or as a script where the page lies on a disk.
import { ApiError } from "../lib/api";

const HEAD = 'regardFile("';
const TAIL = '")\n';
const ESCAPED: Record<number, number> = { 0x5c: 0x5c, 0x22: 0x22, 0x6e: 0x0a, 0x72: 0x0d }; // \\ \" \n \r

export const offline = "serviceWorker" in navigator && location.protocol !== "file:";

/** The service worker may start after files were loaded: this message lists them. */
export function keepOffline(addresses: () => string[]): void {
  if (offline) navigator.serviceWorker.ready.then((worker) => worker.active?.postMessage({ keep: addresses() }));
}

export async function loadFile(path: string, size: number, progress: (part: number) => void): Promise<Uint8Array<ArrayBuffer>> {
  if (!("DecompressionStream" in globalThis && "WebAssembly" in globalThis)) {
    throw new ApiError(501, "unsupported", "This browser cannot run the model.", "use Chrome 91, Firefox 113, Safari 16.4 or newer");
  }
  const packed = location.protocol === "file:" ? await fromScript(path) : unescaped(await fetched(path, size, progress));
  progress(1);
  try {
    const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(plain).arrayBuffer());
  } catch {
    throw new ApiError(500, "damaged", `${path} is damaged.`, "reload the page, or copy the folder again");
  }
}

async function fetched(path: string, size: number, progress: (part: number) => void): Promise<Uint8Array<ArrayBuffer>> {
  const gone = new ApiError(503, "offline", `${path} could not be loaded.`, "it is not stored for use without a network yet: connect, then try again");
  let answer: Response;
  try {
    answer = await fetch(path);
  } catch {
    throw gone;
  }
  if (!answer.ok || !answer.body) throw gone;
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let seen = 0;
  const reader = answer.body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw gone;
    });
    if (done) break;
    parts.push(value);
    seen += value.length;
    progress(Math.min(1, seen / size));
  }
  keepOffline(() => [answer.url]);
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function unescaped(script: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const end = script.length - TAIL.length;
  let length = 0;
  for (let i = HEAD.length; i < end; i++) script[length++] = script[i] === 0x5c ? ESCAPED[script[++i]] : script[i];
  return script.subarray(0, length);
}

let received: string | null = null;
(globalThis as { regardFile?: (content: string) => void }).regardFile = (content) => (received = content);

/** A script in windows-1252, where every byte is one character. */
function fromScript(path: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.charset = "windows-1252";
    script.src = path;
    script.onload = () => {
      script.remove();
      const content = received;
      received = null;
      if (content === null) reject(new ApiError(500, "damaged", `${path} is damaged.`, "copy the folder again"));
      else resolve(bytes(content));
    };
    script.onerror = () => {
      script.remove();
      reject(new ApiError(503, "offline", `${path} could not be read.`, "copy the whole folder, not index.html alone"));
    };
    document.head.append(script);
  });
}

function bytes(content: string): Uint8Array<ArrayBuffer> {
  const decoded = new TextDecoder("windows-1252").decode(Uint8Array.from({ length: 256 }, (_, i) => i));
  const byteOf = new Map([...decoded].map((character, i) => [character.charCodeAt(0), i]));
  const found = new Uint8Array(content.length);
  for (let i = 0; i < content.length; i++) {
    const code = content.charCodeAt(i);
    found[i] = code < 0x80 ? code : byteOf.get(code)!;
  }
  return found;
}
