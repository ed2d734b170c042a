// The GPU functions that the wasm module imports (src/gpu/wasm_imports.hpp), over one GPUDevice.
// C++ hands out the ids; buffers, pipelines and bindings share one number space.

import { Timestamps } from './timestamps.ts';

/** ErrorCode values of src/base/error.hpp. */
const outOfMemory = 5;
const deviceError = 6;
const deviceLost = 7;

const commandWords = 6;
const copyCommand = 1;

/** What the device needs of the module: its memory, and the exports that take completions. */
export interface GpuHost {
  memory(): ArrayBuffer;
  readDone(token: number, ok: boolean): void;
  pipelineDone(): void;
  error(code: number, text: string): void;
}

interface Pipeline {
  layout: GPUBindGroupLayout;
  state: 'compiling' | 'failed' | GPUComputePipeline;
}

/** Work that waits behind commands whose pipelines are still compiling. */
interface Deferred {
  commands?: Uint32Array;
  run: () => void;
}

/** Calls of WebGPU so far. A decoded token must create nothing. */
export interface GpuCounts {
  createBuffer: number;
  createBindGroup: number;
  createPipeline: number;
  writeBuffer: number;
  submit: number;
  dispatch: number;
  mapAsync: number;
}

export class Gpu {
  readonly counts: GpuCounts = {
    createBuffer: 0, createBindGroup: 0, createPipeline: 0, writeBuffer: 0, submit: 0, dispatch: 0, mapAsync: 0,
  };
  private timestamps: Timestamps | undefined;
  private readonly buffers = new Map<number, GPUBuffer>();
  private readonly pipelines = new Map<number, Pipeline>();
  private readonly bindings = new Map<number, GPUBindGroup>();
  private readonly layouts = new Map<string, GPUBindGroupLayout>();
  private readonly staging: GPUBuffer[] = [];
  private readonly deferred: Deferred[] = [];
  private nReads = 0;
  private nCompiling = 0;
  private progressed = false;
  private wake: (() => void) | undefined;
  private lost = false;

  constructor(
    private readonly device: GPUDevice,
    private readonly host: GpuHost,
  ) {
    device.onuncapturederror = ({ error }) => this.report(deviceError, `The GPU reports: ${error.message}`);
    void device.lost.then(({ message }) => {
      this.lost = true;
      this.report(deviceLost, `The graphics device was lost. ${message}`.trim());
      this.flush();
    });
  }

  imports(): WebAssembly.ModuleImports {
    return {
      gpu_create_buffer: this.createBuffer.bind(this),
      gpu_write: this.write.bind(this),
      gpu_create_pipeline: this.createPipeline.bind(this),
      gpu_create_bindings: this.createBindings.bind(this),
      gpu_destroy: (id: number) => this.inOrder(() => this.destroyId(id)),
      gpu_submit: this.submit.bind(this),
      gpu_read: this.read.bind(this),
      gpu_time: this.time.bind(this),
    };
  }

  /** Steps of the clock behind gpu_time, in microseconds; undefined while it is not known. */
  get clockStepUs(): number | undefined {
    return this.timestamps?.stepUs;
  }

  get isIdle(): boolean {
    return this.nReads + this.nCompiling === 0;
  }

  /** Resolves when something finished since the last call, or in the next task when nothing is under way. */
  async settled(): Promise<void> {
    if (this.progressed || this.isIdle) await nextTask();
    else await new Promise<void>((resolve) => (this.wake = resolve));
    this.progressed = false;
  }

  close(): void {
    this.device.destroy();
  }

  private createBuffer(id: number, nBytes: number, labelAt: number, nLabel: number): void {
    const label = this.text(labelAt, nLabel);
    this.device.pushErrorScope('out-of-memory');
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    ++this.counts.createBuffer;
    this.buffers.set(id, this.device.createBuffer({ label, size: nBytes, usage }));
    void this.device.popErrorScope().then((error) => {
      if (error) this.report(outOfMemory, `The GPU has no memory for buffer "${label}" of ${nBytes} bytes.`);
    });
  }

  private write(id: number, offset: number, at: number, nBytes: number): void {
    ++this.counts.writeBuffer;
    const memory = this.host.memory();
    if (this.deferred.length === 0) {
      this.device.queue.writeBuffer(this.buffer(id), offset, memory, at, nBytes);
      return;
    }
    const copy = memory.slice(at, at + nBytes);
    this.inOrder(() => this.device.queue.writeBuffer(this.buffer(id), offset, copy));
  }

  private createPipeline(id: number, wgslAt: number, nWgsl: number, labelAt: number, nLabel: number, accessAt: number,
                         nAccess: number): void {
    const label = this.text(labelAt, nLabel);
    const pipeline: Pipeline = {
      layout: this.layout(new Uint8Array(this.host.memory(), accessAt, nAccess)),
      state: 'compiling',
    };
    this.pipelines.set(id, pipeline);
    ++this.counts.createPipeline;
    ++this.nCompiling;
    void this.compile(label, this.text(wgslAt, nWgsl), pipeline.layout)
      .then(
        (compiled) => (pipeline.state = compiled),
        (error: Error) => {
          pipeline.state = 'failed';
          this.report(deviceError, `Kernel "${label}" does not compile: ${error.message}`);
        },
      )
      .then(() => {
        --this.nCompiling;
        this.host.pipelineDone();
        this.flush();
        this.progress();
      });
  }

  private async compile(label: string, code: string, layout: GPUBindGroupLayout): Promise<GPUComputePipeline> {
    // The scope keeps a bad module from being reported a second time, as an uncaptured error.
    this.device.pushErrorScope('validation');
    const module = this.device.createShaderModule({ label, code });
    const scope = this.device.popErrorScope();
    const descriptor = {
      label,
      layout: this.device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module, entryPoint: 'main' },
    };
    try {
      const compiled = await this.device.createComputePipelineAsync(descriptor);
      await scope;
      return compiled;
    } catch (error) {
      const { messages } = await module.getCompilationInfo();
      const lines = messages.filter(({ type }) => type === 'error').map((m) => `line ${m.lineNum}: ${m.message}`);
      throw lines.length > 0 ? new Error(lines.join('; ')) : error;
    }
  }

  /** One layout for each list of accesses, so that a pipeline's bindings can be made while it compiles. */
  private layout(access: Uint8Array): GPUBindGroupLayout {
    const key = access.join('');
    let layout = this.layouts.get(key);
    if (!layout) {
      const entries = Array.from(access, (mode, binding): GPUBindGroupLayoutEntry => ({
        binding,
        visibility: GPUShaderStage.COMPUTE,
        buffer: { type: mode === 0 ? 'read-only-storage' : 'storage' },
      }));
      layout = this.device.createBindGroupLayout({ entries });
      this.layouts.set(key, layout);
    }
    return layout;
  }

  private createBindings(id: number, pipelineId: number, buffersAt: number, nBuffers: number): void {
    const ids = new Uint32Array(this.host.memory(), buffersAt, nBuffers);
    const entries = Array.from(ids, (buffer, binding) => ({ binding, resource: { buffer: this.buffer(buffer) } }));
    const layout = found(this.pipelines.get(pipelineId), pipelineId).layout;
    ++this.counts.createBindGroup;
    this.bindings.set(id, this.device.createBindGroup({ layout, entries }));
  }

  private destroyId(id: number): void {
    this.buffers.get(id)?.destroy();
    this.buffers.delete(id);
    this.pipelines.delete(id);
    this.bindings.delete(id);
  }

  private submit(at: number, nCommands: number): void {
    const commands = new Uint32Array(this.host.memory(), at, nCommands * commandWords);
    if (this.deferred.length === 0 && this.isCompiled(commands)) {
      this.encode(commands);
      return;
    }
    const copy = commands.slice();
    this.deferred.push({ commands: copy, run: () => this.encode(copy) });
  }

  /** gpu_time: the kernels are compiled, and the device has timestamps. */
  private time(at: number, nCommands: number, target: number, token: number): void {
    const commands = new Uint32Array(this.host.memory(), at, nCommands * commandWords);
    ++this.nReads;
    const timestamps = (this.timestamps ??= new Timestamps(this.device));
    const times = timestamps.time(nCommands, (writes) => this.encode(commands, writes));
    void this.finishRead(token, async () => {
      new Float64Array(this.host.memory(), target, nCommands).set(await times);
    });
  }

  /** With `writes`, each dispatch gets a pass of its own, whose timestamps those are. */
  private encode(commands: Uint32Array, writes?: (command: number) => GPUComputePassTimestampWrites): void {
    const encoder = this.device.createCommandEncoder();
    let pass: GPUComputePassEncoder | undefined;
    for (let i = 0; i < commands.length; i += commandWords) {
      const a = commands[i + 1]!;
      const b = commands[i + 2]!;
      const x = commands[i + 3]!;
      const y = commands[i + 4]!;
      const z = commands[i + 5]!;
      if (commands[i] === copyCommand) {
        pass?.end();
        pass = undefined;
        encoder.copyBufferToBuffer(this.buffer(a), 4 * x, this.buffer(b), 4 * y, 4 * z);
        continue;
      }
      const { state } = found(this.pipelines.get(a), a);
      if (typeof state === 'string') continue; // Did not compile, which was reported.
      if (writes) {
        pass?.end();
        pass = encoder.beginComputePass({ timestampWrites: writes(i / commandWords) });
      }
      pass ??= encoder.beginComputePass();
      ++this.counts.dispatch;
      pass.setPipeline(state);
      pass.setBindGroup(0, found(this.bindings.get(b), b));
      pass.dispatchWorkgroups(x, y, z);
    }
    pass?.end();
    ++this.counts.submit;
    this.device.queue.submit([encoder.finish()]);
  }

  private read(id: number, offset: number, target: number, nBytes: number, token: number): void {
    ++this.nReads;
    this.inOrder(() => void this.readNow(id, offset, target, nBytes, token));
  }

  private readNow(id: number, offset: number, target: number, nBytes: number, token: number): Promise<void> {
    return this.finishRead(token, async () => {
      const staging = this.takeStaging(nBytes);
      const encoder = this.device.createCommandEncoder();
      encoder.copyBufferToBuffer(this.buffer(id), offset, staging, 0, nBytes);
      ++this.counts.submit;
      this.device.queue.submit([encoder.finish()]);
      ++this.counts.mapAsync;
      const mapped = staging.mapAsync(GPUMapMode.READ, 0, nBytes);
      this.poke(2);
      await mapped;
      new Uint8Array(this.host.memory(), target, nBytes).set(new Uint8Array(staging.getMappedRange(0, nBytes)));
      staging.unmap();
      this.staging.push(staging);
    });
  }

  private async finishRead(token: number, read: () => Promise<void>): Promise<void> {
    let ok = false;
    try {
      await read();
      ok = true;
    } catch (error) {
      if (!this.lost) this.report(deviceError, `The GPU cannot read a buffer back: ${String(error)}`);
    }
    --this.nReads;
    this.host.readDone(token, ok);
    this.progress();
  }

  private takeStaging(nBytes: number): GPUBuffer {
    const fitting = this.staging.findIndex((buffer) => buffer.size >= nBytes);
    if (fitting >= 0) return this.staging.splice(fitting, 1)[0] as GPUBuffer;
    const size = Math.max(256, 2 ** Math.ceil(Math.log2(nBytes)));
    ++this.counts.createBuffer;
    return this.device.createBuffer({ label: 'staging', size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  }

  /** Chrome looks for finished work only every 2 ms unless commands arrive: with one read under way, send empty ones. */
  private poke(nTimes: number): void {
    if (nTimes === 0) return;
    setTimeout(() => {
      if (this.nReads !== 1 || this.lost) return;
      this.device.queue.submit([]);
      this.poke(nTimes - 1);
    }, 1);
  }

  private isCompiled(commands: Uint32Array): boolean {
    if (this.nCompiling === 0) return true;
    for (let i = 0; i < commands.length; i += commandWords) {
      if (commands[i] !== copyCommand && this.pipelines.get(commands[i + 1]!)?.state === 'compiling') return false;
    }
    return true;
  }

  private inOrder(run: () => void): void {
    if (this.deferred.length === 0) run();
    else this.deferred.push({ run });
  }

  private flush(): void {
    for (let next = this.deferred[0]; next; next = this.deferred[0]) {
      if (next.commands && !this.isCompiled(next.commands)) return;
      this.deferred.shift();
      next.run();
    }
  }

  private report(code: number, text: string): void {
    this.host.error(code, text);
    this.progress();
  }

  private progress(): void {
    this.progressed = true;
    this.wake?.();
    this.wake = undefined;
  }

  private buffer(id: number): GPUBuffer {
    return found(this.buffers.get(id), id);
  }

  private text(at: number, nBytes: number): string {
    return new TextDecoder().decode(new Uint8Array(this.host.memory(), at, nBytes));
  }
}

function found<T>(value: T | undefined, id: number): T {
  if (value === undefined) throw new Error(`The engine used GPU object ${id}, which does not exist.`);
  return value;
}

const channel = new MessageChannel();
const waiting: (() => void)[] = [];
channel.port1.onmessage = () => waiting.shift()?.();

/** The next task of the event loop, without the delay that nested timers get. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    channel.port2.postMessage(null);
  });
}
