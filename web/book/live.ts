/**
 * A panel in a page without a server: its widgets are those of JupyterLab, its Python runs in a
 * worker (worker.ts).
 */
import * as base from "@jupyter-widgets/base";
import { ManagerBase } from "@jupyter-widgets/base-manager";
import * as controls from "@jupyter-widgets/controls";
import { Widget } from "@lumino/widgets";
import "@jupyter-widgets/controls/css/widgets.css";
import "anywidget";
import { amd } from "./amd";
import type { FromPython, Opened, Progress, Settings, ToPython } from "./messages";

type Callbacks = base.ICallbacks | undefined;
type Buffers = ArrayBuffer[] | ArrayBufferView[] | undefined;
type Class = typeof base.WidgetModel | typeof base.WidgetView;

const TARGET = "jupyter.widget";

const modules: Record<string, object> = {
  "@jupyter-widgets/base": base,
  "@jupyter-widgets/controls": controls,
  anywidget: amd.factory!(base),
};

class Manager extends ManagerBase {
  protected async loadClass(name: string, module: string) {
    return (modules[module] as Record<string, Class>)[name];
  }
  protected async _create_comm(): Promise<base.IClassicComm> {
    throw new Error("Python opens the channels here");
  }
  protected async _get_comm_info() {
    return {};
  }
}

/** One end of a channel between a widget in the page and its Python. */
class Channel implements base.IClassicComm {
  readonly target_name = TARGET;
  heard: ((message: object) => void) | undefined;
  closed: ((message: object) => void) | undefined;

  constructor(
    readonly comm_id: string,
    private readonly post: Python["post"],
  ) {}

  open(): string {
    throw new Error("Python opens the channels here");
  }
  send(data: unknown, callbacks?: Callbacks, _metadata?: object, buffers?: Buffers) {
    return this.post("comm_msg", this.comm_id, data, callbacks, buffers);
  }
  close(data?: unknown, callbacks?: Callbacks) {
    return this.post("comm_close", this.comm_id, data ?? {}, callbacks);
  }
  on_msg(heard: (message: object) => void) {
    this.heard = heard;
  }
  on_close(closed: (message: object) => void) {
    this.closed = closed;
  }
}

/** Who waits for an answer. */
interface Asked {
  resolve?(opened: Opened): void;
  reject?(error: Error): void;
  idle?: ((message: never) => void) | undefined;
}

/** What a panel is opened with: the name of its class, and its arguments; see page.py. */
export type How = Record<string, unknown>;

/** A panel that is open. */
export interface LivePanel {
  /** Gives it another state, as a preset of it would. */
  go(state: string): void;
  /** Its widget, by which another panel can be opened like it. */
  readonly model: string;
  close(): void;
}

/** The Python of a page: started with the first panel, the same for all others. */
export class Python {
  onProgress: (progress: Progress) => void = () => {};
  private readonly manager = new Manager();
  private readonly channels = new Map<string, Channel>();
  private readonly asked = new Map<string, Asked>();
  private readonly worker: Worker;
  private count = 0;

  constructor(worker: string, settings: Settings) {
    this.worker = new Worker(worker, { type: "module" });
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.onerror = ({ message }) => this.fail(message || "its worker cannot be loaded");
    this.tell({ kind: "start", ...settings });
  }

  /** Shows a panel in an element. */
  async open(element: HTMLElement, how: How): Promise<LivePanel> {
    const { model } = await new Promise<Opened>((resolve, reject) => {
      const ticket = this.ticketOf({ resolve, reject });
      this.tell({ kind: "open", ticket, how: JSON.stringify(how) });
    });
    const opened = (await this.manager.get_model(model!)) as base.DOMWidgetModel;
    const widget = (await this.manager.create_view(opened)).luminoWidget;
    Widget.attach(widget, element);
    const resized = new ResizeObserver(() => widget.update());
    resized.observe(element);
    return {
      model: model!,
      go: (state) => this.tell({ kind: "go", model: model!, state }),
      close: () => {
        resized.disconnect();
        Widget.detach(widget);
        this.tell({ kind: "close", model: model! });
      },
    };
  }

  private tell(message: ToPython) {
    this.worker.postMessage(message);
  }

  private ticketOf(asked: Asked): string {
    const ticket = String(++this.count);
    this.asked.set(ticket, asked);
    return ticket;
  }

  /** A message of a widget; returns its ticket. */
  private readonly post = (
    kind: "comm_msg" | "comm_close",
    id: string,
    data: unknown,
    callbacks?: Callbacks,
    buffers?: Buffers,
  ): string => {
    const ticket = this.ticketOf({ idle: callbacks?.iopub?.status });
    this.tell({ kind, ticket, id, data: JSON.stringify(data), buffers: buffers ?? [] });
    return ticket;
  };

  private hear(message: FromPython) {
    if (message.kind === "progress") this.onProgress(message);
    else if (message.kind === "done" || message.kind === "failed") this.hearAnswer(message);
    else this.hearComm(message);
  }

  private hearAnswer(answer: Extract<FromPython, { ticket: string }>) {
    if (answer.kind === "failed" && !answer.ticket) return this.fail(answer.words);
    const { resolve, reject, idle } = this.asked.get(answer.ticket) ?? {};
    this.asked.delete(answer.ticket);
    if (answer.kind === "done") resolve?.(answer);
    else if (reject) reject(new Error(answer.words));
    else console.error(answer.words);
    // ipywidgets then sends the newest value, no other.
    idle?.({ content: { execution_state: "idle" } } as never);
  }

  private hearComm({ kind, id, data, buffers, answerTo }: Extract<FromPython, { id: string }>) {
    const message = {
      content: { comm_id: id, target_name: TARGET, data: JSON.parse(data) },
      metadata: { version: "2.1.0" },
      buffers: buffers.map((one) => new DataView(one.buffer, one.byteOffset, one.byteLength)),
      // With it an echo of an older value changes nothing.
      ...(answerTo ? { parent_header: { msg_id: answerTo } } : {}),
    };
    if (kind === "comm_open") {
      const channel = new Channel(id, this.post);
      this.channels.set(id, channel);
      this.manager.handle_comm_open(channel, message as never);
    } else if (kind === "comm_msg") {
      this.channels.get(id)?.heard?.(message);
    } else {
      this.channels.get(id)?.closed?.(message);
      this.channels.delete(id);
    }
  }

  /** There is no Python: whoever waits for it hears that. */
  private fail(words: string) {
    this.onProgress({ words, share: 0 });
    for (const { reject } of this.asked.values()) {
      reject?.(Object.assign(new Error(words), { isPython: true }));
    }
    this.asked.clear();
  }
}
