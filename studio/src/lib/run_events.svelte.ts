// Follows a training run by server-sent events; the browser reconnects and continues by itself.
import type { Point } from "./chart";
import { connection } from "./connection.svelte";

interface Step {
  step: number;
  loss: number | null;
  rate: number | null;
  gradient_norm: number | null;
  tokens_per_second: number | null;
  seconds: number | null;
}
interface Validated {
  step: number;
  loss: number | null;
  train_loss: number | null;
  score: number | null;
  metric: string;
  best: boolean;
  sample: [source: string, reference: string, output: string];
}

export class RunEvents {
  steps = $state.raw<Step[]>([]);
  validations = $state.raw<Validated[]>([]);
  total = $state<number | null>(null);
  warnings = $state.raw<string[]>([]);
  ended = $state<string | null>(null);
  /** Counts the snapshots, so that a view knows when to request the replay again. */
  snapshots = $state(0);
  #source: EventSource | null = null;
  #waiting: Step[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  follow(run: string, done: () => void): void {
    this.close();
    this.steps = [];
    this.validations = [];
    this.warnings = [];
    this.total = this.ended = null;
    this.snapshots = 0;
    const source = (this.#source = new EventSource(`/api/v1/runs/${encodeURIComponent(run)}/events`));
    const on = <Data>(kind: string, act: (data: Data) => void) =>
      source.addEventListener(kind, (event) => act(JSON.parse((event as MessageEvent<string>).data) as Data));
    source.onopen = () => connection.found();
    source.onerror = () => {
      if (source.readyState === EventSource.CONNECTING) connection.lost(); // the browser tries again
      else done(); // refused: the run does not exist
    };
    on<{ total_steps: number }>("started", (data) => (this.total = data.total_steps));
    on<Step>("step", (data) => this.#later(data));
    on<Validated>("validated", (data) => (this.validations = [...this.validations, data]));
    on<{ message: string }>("warning", (data) => (this.warnings = [...this.warnings, data.message].slice(-5)));
    on("snapshot", () => this.snapshots++);
    on<{ reason: string }>("finished", (data) => (this.ended = data.reason));
    on<{ message: string }>("gone", (data) => (this.ended = data.message));
    on("end", () => {
      this.close();
      done();
    });
  }

  /** Thousands of steps arrive at once: the charts are drawn a few times a second. */
  #later(step: Step): void {
    this.#waiting.push(step);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.steps = [...this.steps, ...this.#waiting.splice(0)];
    }, 250);
  }

  points(key: "loss" | "rate" | "gradient_norm", most = 400): Point[] {
    const every = Math.max(1, Math.ceil(this.steps.length / most));
    return this.steps.filter((_, i) => i % every === 0 || i === this.steps.length - 1).map((one) => ({ x: one.step, y: one[key] ?? NaN }));
  }

  close(): void {
    this.#source?.close();
    this.#source = null;
  }
}
