// Whether a model may be made on this device. WebGPU tells limits, which the engine checks, and nothing of free memory.
import type { Caps } from '../adapter.ts';
import type { MemoryPlan } from '../api.ts';
import { formatBytes } from '../chat/dom.ts';

/** Where the browser does not tell. */
const unknownGib = 8;
/** Of the device's memory, what a page may take. */
const usablePart = 0.6;

/** Why not, if so: an adapter that computes on the CPU has the device's own memory, which must not run out. */
export function refusal({ total_bytes: nBytes }: MemoryPlan, { kind }: Caps): string | undefined {
  if (kind !== 'cpu') return undefined;
  const { deviceMemory = unknownGib } = navigator as { deviceMemory?: number };
  const usable = usablePart * deviceMemory * 2 ** 30;
  if (nBytes <= usable) return undefined;
  return (
    `The model takes ${formatBytes(nBytes)}, but this adapter computes on the CPU and has this device's memory, ` +
    `of which ${formatBytes(usable)} may be used (the browser tells ${deviceMemory} GiB). Choose fewer layers or a smaller model.`
  );
}
