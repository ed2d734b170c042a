// Runs an Engine in a worker, so that the page never waits for it. Messages: rpc.ts.
import { asEngineError, EngineError } from './errors.ts';
import { Engine } from './engine.ts';
import type { CallEvent, FromWorker, ToWorker } from './rpc.ts';

let engine: Engine | undefined;

function send(message: FromWorker): void {
  postMessage(message);
}

async function run(message: ToWorker): Promise<unknown> {
  if (message.method === 'create') {
    engine = await Engine.create(message.wasmUrl);
    engine.onLost = ({ code, message: text }) => send({ type: 'lost', code, text });
    // For tests, which reach into the worker.
    (globalThis as { engine?: Engine }).engine = engine;
    return undefined;
  }
  if (!engine) throw new EngineError('internal', 'The worker has no engine yet.');
  const report = (event: CallEvent) => send({ type: 'event', id: message.id, event });
  switch (message.method) {
    case 'open':
      return engine.open(message.source, message.options, report);
    case 'load':
      return engine.load(report);
    case 'generate':
      for await (const event of engine.generate(message.request)) report(event);
      return undefined;
    case 'about':
      return engine.about();
    case 'selfTest':
      return engine.selfTest(message.quickOnly, report);
    case 'lockstep':
      return engine.lockstep(report);
    case 'stop':
      return engine.stop();
  }
}

// Nobody waits for what fails so, and whoever waits for the GPU would wait for ever.
addEventListener('unhandledrejection', ({ reason }) => {
  const { code, message: text } = asEngineError(reason);
  send({ type: 'lost', code, text });
});

onmessage = ({ data }: MessageEvent<ToWorker>) => {
  run(data).then(
    (result) => send({ type: 'result', id: data.id, result }),
    (thrown: unknown) => {
      const { code, message: text } = asEngineError(thrown);
      send({ type: 'error', id: data.id, code, text });
    },
  );
};
