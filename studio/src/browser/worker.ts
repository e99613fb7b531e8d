// The worker that holds the runtime and the models: one request at a time, in the order of arrival.
import { ApiError } from "../lib/api";
import { occlusion, openModel, startRuntime, step, translate, translateMany, type Hooks, type Opened } from "./engine";

export interface Job {
  number: number;
  kind: "runtime" | "open" | "/translate" | "/step" | "/occlusion" | "many" | "tokens";
  model?: string;
  body: any;
}

const models = new Map<string, Opened>();
const abandoned = new Set<number>();
const channel = new MessageChannel();
let waiting: (() => void)[] = [];
channel.port1.onmessage = () => waiting.splice(0).forEach((go) => go());

/** Lets messages in: a request that was given up ends here. */
const breathe = () => new Promise<void>((go) => (waiting.push(go), channel.port2.postMessage(null)));
const EVERY = 40; // milliseconds between two partial answers

let last: Promise<unknown> = Promise.resolve();

onmessage = ({ data }: MessageEvent<Job | { abandon: number }>) => {
  if ("abandon" in data) abandoned.add(data.abandon);
  else last = last.then(() => run(data));
};

async function run(job: Job): Promise<void> {
  try {
    await breathe();
    const answer = abandoned.has(job.number) ? null : await answerTo(job);
    postMessage({ number: job.number, answer });
  } catch (error) {
    const { status = 500, code = "failed", message, hint = null, field = null } = error as ApiError;
    postMessage({ number: job.number, problem: { status, code, message, hint, field } });
  }
  abandoned.delete(job.number);
}

async function answerTo(job: Job): Promise<unknown> {
  const { kind, body, number } = job;
  if (kind === "runtime") return startRuntime(body);
  if (kind === "open") return void models.set(job.model!, await openModel(body));
  const opened = models.get(job.model!)!;
  let shown = performance.now();
  let checked = shown;
  const hooks: Hooks = {
    pause: async () => {
      if (performance.now() - checked < EVERY) return;
      await breathe();
      checked = performance.now();
      if (abandoned.has(number)) throw new ApiError(499, "abandoned", "This request was given up.");
    },
    partial: (make) => {
      if (performance.now() - shown < EVERY) return;
      postMessage({ number, partial: make() });
      shown = performance.now();
    },
  };
  if (kind === "/translate") return translate(opened, body, hooks);
  if (kind === "/step") return step(opened, body, hooks);
  if (kind === "/occlusion") return occlusion(opened, body, hooks);
  if (kind === "many") return translateMany(opened, body.texts, body.beam, hooks, body.together);
  const tokenizer = body.target ? opened.target : opened.source;
  return (body.texts as string[]).map((text) => tokenizer.encode(text));
}
