// The engine against itself on this adapter: each kernel's cases, and a model op by op, both beside their oracles.
import type { CaseOutcome, GenerateRequest, LockstepReport } from './api.ts';
import type { WasmModule } from './module.ts';

export async function runSelfTest(
  module: WasmModule,
  quickOnly: boolean,
  onCase: (outcome: CaseOutcome) => void,
): Promise<void> {
  const { n_cases } = module.call<{ n_cases: number }>('ztvm_selftest_begin', quickOnly ? 1 : 0);
  for (let index = 0; ; ) {
    const { done, ...outcome } = module.call<{ done: boolean } & Partial<CaseOutcome>>('ztvm_selftest_step');
    if (outcome.kernel !== undefined) onCase({ ...(outcome as CaseOutcome), index: index++, n_cases });
    if (done) return;
    // A finished case hands over at once; one under way waits for the GPU.
    await module.gpu.settled();
  }
}

const nPromptTokens = 18;
const nNewTokens = 4;
const maxRounds = 24;

/** Rounds of a prompt over a page border and some tokens, until every kernel that they reach was compared. */
export async function runLockstep(
  module: WasmModule,
  generate: (request: GenerateRequest) => AsyncIterable<unknown>,
  onReport: (report: LockstepReport) => void,
): Promise<LockstepReport> {
  let report = module.call<LockstepReport>('ztvm_lockstep');
  for (let round = 0; round < maxRounds; ++round) {
    const before = report.n_different;
    for await (const _ of generate(request(round))) {
      report = module.call<LockstepReport>('ztvm_lockstep');
      onReport(report);
      if (report.mismatch !== undefined) return report;
    }
    // What was read is compared when the engine polls the device.
    do {
      await module.gpu.settled();
      module.call('ztvm_ready');
    } while (!module.gpu.isIdle);
    report = module.call<LockstepReport>('ztvm_lockstep');
    onReport(report);
    // The first two rounds differ: greedy, and with penalty and sampler.
    if (report.mismatch !== undefined || (round > 0 && report.n_different === before)) break;
  }
  return report;
}

/** Ids spread over the vocabulary; which ones does not matter to the comparison. */
function request(round: number): GenerateRequest {
  const ids = Array.from({ length: nPromptTokens }, (_, i) => 3 + ((i * 7 + round * 5) % 97));
  const sampling = round % 2 === 1 ? { temperature: 0.8, top_k: 20, repeat_penalty: 1.1, seed: round } : { temperature: 0 };
  return { ids, max_tokens: nNewTokens, ignore_eos: true, ...sampling };
}
