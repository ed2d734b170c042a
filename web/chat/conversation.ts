// What outlives a reload of the tab: the conversation and the person's settings, in localStorage.
import type { Message } from '../api.ts';

export interface Turn extends Message {
  /** "31 tokens/s · first token after 0.4 s", under an answer. */
  stats?: string;
}

export interface Settings {
  model: string;
  temperature: number;
  maxTokens: number;
  /** Aliases of models that were loaded once, and so are loaded again without asking. */
  loaded: string[];
  /** The browser was asked to keep models when its disk is full. */
  askedToPersist: boolean;
}

const conversationKey = 'zero-tvm.conversation';
const settingsKey = 'zero-tvm.settings';
const defaults: Settings = { model: '', temperature: 0.3, maxTokens: 512, loaded: [], askedToPersist: false };

export function loadTurns(): Turn[] {
  const turns = read(conversationKey);
  return Array.isArray(turns) ? turns.filter(isTurn) : [];
}

export function saveTurns(turns: Turn[]): void {
  write(conversationKey, turns);
}

export function loadSettings(): Settings {
  const stored = read(settingsKey) as Partial<Settings> | undefined;
  const { model, temperature, maxTokens, loaded, askedToPersist } = { ...defaults, ...stored };
  return {
    model: typeof model === 'string' ? model : defaults.model,
    temperature: within(temperature, 0, 1.5) ? temperature : defaults.temperature,
    maxTokens: within(maxTokens, 1, 4096) ? Math.round(maxTokens) : defaults.maxTokens,
    loaded: Array.isArray(loaded) ? loaded.filter((alias) => typeof alias === 'string') : [],
    askedToPersist: askedToPersist === true,
  };
}

export function saveSettings(settings: Settings): void {
  write(settingsKey, settings);
}

function within(value: unknown, low: number, high: number): value is number {
  return typeof value === 'number' && value >= low && value <= high;
}

function isTurn(value: unknown): value is Turn {
  const turn = value as Turn | null;
  return typeof turn?.content === 'string' && (turn.role === 'user' || turn.role === 'assistant');
}

function read(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** A full or forbidden storage costs the memory of the conversation, not the conversation. */
function write(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch (error) {
    console.warn(`The browser did not store "${key}":`, error);
  }
}
