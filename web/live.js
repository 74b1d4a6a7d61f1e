// A panel in a page without a server: its widgets are those of JupyterLab, its Python runs in a worker (worker.js).

import * as base from "@jupyter-widgets/base";
import { ManagerBase } from "@jupyter-widgets/base-manager";
import * as controls from "@jupyter-widgets/controls";
import { Widget } from "@lumino/widgets";
import "@jupyter-widgets/controls/css/widgets.css";
import "anywidget";
import { amd } from "./amd.js";

const modules = {
  "@jupyter-widgets/base": base,
  "@jupyter-widgets/controls": controls,
  anywidget: amd.factory(base),
};

class Manager extends ManagerBase {
  async loadClass(name, module) { return modules[module][name]; }
  async _create_comm() { throw new Error("Python opens the channels here"); }
  async _get_comm_info() { return {}; }
}

// One end of a channel between a widget in the page and its Python.
class Channel {
  constructor(id, send) { Object.assign(this, { comm_id: id, target_name: "jupyter.widget", post: send }); }
  send(data, callbacks, _metadata, buffers) { return this.post("comm_msg", this.comm_id, data, callbacks, buffers); }
  close(data, callbacks) { return this.post("comm_close", this.comm_id, data ?? {}, callbacks); }
  on_msg(heard) { this.heard = heard; }
  on_close(closed) { this.closed = closed; }
}

// The Python of a page: started with the first panel, the same for all others.
export class Python {
  constructor(worker, settings) {
    this.manager = new Manager();
    this.channels = new Map();
    this.asked = new Map();
    this.count = 0;
    this.worker = new Worker(worker, { type: "module" });
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.onerror = (event) => this.fail(event.message || "its worker cannot be loaded");
    this.worker.postMessage({ kind: "start", ...settings });
    this.onProgress = () => {};
  }
  fail(words) {
    this.onProgress({ words, share: 0 });
    for (const { reject } of this.asked.values()) reject?.(Object.assign(new Error(words), { isPython: true }));
    this.asked.clear();
  }
  ask(message, answers) {
    const ticket = String(++this.count);
    this.asked.set(ticket, answers);
    this.worker.postMessage({ ticket, ...message });
    return ticket;
  }
  hear({ kind, ticket, id, data, buffers, answers, ...rest }) {
    if (kind === "progress") return this.onProgress(rest);
    if (kind === "failed" && !ticket) return this.fail(rest.words);
    if (kind === "done" || kind === "failed") {
      const { resolve, reject, idle } = this.asked.get(ticket) ?? {};
      this.asked.delete(ticket);
      if (kind === "done") resolve?.(rest);
      else if (reject) reject(new Error(rest.words));
      else console.error(rest.words);
      return idle?.({ content: { execution_state: "idle" } }); // ipywidgets then sends the newest value, no other
    }
    const content = { comm_id: id, target_name: "jupyter.widget", data: JSON.parse(data) };
    const message = { content, metadata: { version: "2.1.0" }, buffers: buffers.map((one) => new DataView(one.buffer)) };
    if (answers) message.parent_header = { msg_id: answers }; // an echo of an older value changes nothing
    if (kind === "comm_open") {
      const post = (kind, id, data, callbacks, buffers) =>
        this.ask({ kind, id, data: JSON.stringify(data), buffers: buffers ?? [] }, { idle: callbacks?.iopub?.status });
      this.channels.set(id, new Channel(id, post));
      this.manager.handle_comm_open(this.channels.get(id), message);
    } else if (kind === "comm_msg") this.channels.get(id)?.heard?.(message);
    else if (kind === "comm_close") {
      this.channels.get(id)?.closed?.(message);
      this.channels.delete(id);
    }
  }
  // Show a panel in an element; `how` names its class and what that is opened with: see page.py.
  async open(element, how) {
    const { model } = await new Promise((resolve, reject) =>
      this.ask({ kind: "open", how: JSON.stringify(how) }, { resolve, reject }));
    const view = await this.manager.create_view(await this.manager.get_model(model));
    const widget = view.luminoWidget;
    Widget.attach(widget, element);
    const resized = new ResizeObserver(() => widget.update());
    resized.observe(element);
    return () => {
      resized.disconnect();
      Widget.detach(widget);
      this.worker.postMessage({ kind: "close", model });
    };
  }
}
