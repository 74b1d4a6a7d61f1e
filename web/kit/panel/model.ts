/** The models of widgets, as ipywidgets has them in the page: what is used of them here. */
import type { Value } from "../picture";

export interface Model<State, Heard = object> {
  get<Name extends keyof State & string>(name: Name): State[Name];
  set<Name extends keyof State & string>(name: Name, value: State[Name]): void;
  /** Tells Python what was set. */
  save_changes(): void;
  /** Tells Python something else. */
  send(message: object): void;
  /** What Python says beside values. */
  on(name: "msg:custom", listen: (message: Heard, buffers: DataView<ArrayBuffer>[]) => void): void;
  on(names: string, listen: () => void): void;
  off(names: string, listen: (message: Heard) => void): void;
  widget_manager: Manager;
}

interface Manager {
  get_model(id: string): Promise<Control>;
  kernel?: Kernel;
}

/** A slider, a list, a tick or a text. */
export interface Control extends Model<ControlState> {
  model_id: string;
  /** What is drawn of it: each comes once it is there. */
  views?: Record<string, Promise<{ el: HTMLElement }>>;
}

export interface ControlState {
  value: Value;
  description: string;
  disabled: boolean;
  /** Whether Python hears of a slider that is still held, or of a text that is not entered. */
  continuous_update?: boolean;
  // of a slider
  min: number;
  max: number;
  step: number;
  // of a list
  index?: number;
  _options_labels?: string[];
}

export type Controls = Record<string, Control>;
/** Name → what ipywidgets calls that control in a message. */
export type References = Record<string, string>;

/** A kernel of JupyterLab; a page without a server has none, or one that knows less. */
export interface Kernel {
  statusChanged?: Signal<string>;
  connectionStatusChanged: Signal<string>;
  disposed: Signal<void>;
  requestCommInfo?(of: { target_name: string }): Promise<{
    content: { status: string; comms: Record<string, unknown> };
  }>;
}

export interface Signal<Said> {
  connect(listen: (kernel: unknown, said: Said) => void): void;
  disconnect(listen: (kernel: unknown, said: Said) => void): void;
}

/** A widget that names controls. */
export interface Holder {
  get(name: "controls"): References;
  widget_manager: Manager;
}

export async function controlsOf(widget: Holder): Promise<Controls> {
  const named = Object.entries(widget.get("controls"));
  const found = named.map(async ([name, reference]) => {
    const id = reference.slice("IPY_MODEL_".length);
    return [name, await widget.widget_manager.get_model(id)] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}
