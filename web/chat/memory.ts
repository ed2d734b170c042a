// What a model takes, in words, and whether this device may have too little for it.
import type { MemoryPlan } from '../api.ts';
import { formatBytes } from './dom.ts';

/** Above it, phones end the page. */
const phoneBytes = 1.2e9;
/** Of the device's memory, what a page can hope for. */
const usablePart = 0.6;
/** The most that browsers say of a device's memory. */
const mostTold = 8;
const largeBytes = 6e9;

export function describePlan(plan: MemoryPlan): string {
  const parts = [
    ['weights', plan.weights_bytes],
    [`KV cache of ${plan.context} tokens`, plan.kv_cache_bytes],
    ['state', plan.state_bytes],
    ['scratch', plan.scratch_bytes],
  ] as const;
  const words = parts.filter(([, nBytes]) => nBytes > 0).map(([name, nBytes]) => `${name} ${formatBytes(nBytes)}`);
  const most = plan.max_context > plan.context ? ` Up to ${plan.max_context} tokens fit (?ctx=).` : '';
  return `Takes ${formatBytes(plan.total_bytes)} of GPU memory: ${words.join(', ')}.${most}`;
}

/** Why the model may be too large for this device, if it may. */
export function memoryWarning({ total_bytes: nBytes }: MemoryPlan): string | undefined {
  const { deviceMemory, userAgentData, userAgent } = navigator as Navigator & {
    deviceMemory?: number;
    userAgentData?: { mobile: boolean };
  };
  const needs = `The model takes ${formatBytes(nBytes)}.`;
  if ((userAgentData?.mobile ?? /Android|iPhone|iPad/.test(userAgent)) && nBytes > phoneBytes) {
    return `${needs} Phones and tablets end pages that use so much; save your work in other tabs first.`;
  }
  if (deviceMemory && deviceMemory < mostTold && nBytes > usablePart * deviceMemory * 2 ** 30) {
    return `${needs} This device has about ${deviceMemory} GB of memory; it may become slow or end the page.`;
  }
  if (nBytes > largeBytes) return `${needs} Your GPU, or the memory that it shares, must have so much free.`;
  return undefined;
}

/** Why the model will not be kept, if this browser has too little room. */
export async function storageWarning(nBytes: number): Promise<string | undefined> {
  const { quota, usage } = await navigator.storage.estimate().catch(() => ({ quota: undefined, usage: undefined }));
  if (quota === undefined || usage === undefined || quota - usage >= nBytes) return undefined;
  const room = formatBytes(Math.max(0, quota - usage));
  return `This browser has room for ${room} only: the model runs, but is not kept.`;
}

/** Asks the browser once to keep the models when its disk gets full. Some ask the person in turn. */
export async function askToPersist(): Promise<void> {
  if (!(await navigator.storage.persisted())) await navigator.storage.persist();
}
