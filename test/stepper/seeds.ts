/** Runs of the stepper by seed, for tests. */
import type { PgServer } from '../adapters/storage/pg-cluster.js'
import type { FaultInjector } from './gates.js'
import { stepThrough } from './step.js'

export type Stepped = Awaited<ReturnType<typeof stepThrough>>

const MAX_SEEDS = 100

export interface SeededRun {
  readonly server: PgServer | undefined
  readonly schema: string
  readonly seed: number
  readonly faultInjector?: FaultInjector | undefined
  /** Uses one webhook and one call. */
  readonly isSmall?: boolean
}

export function runSeed({
  server,
  schema,
  seed,
  faultInjector,
  isSmall = false,
}: SeededRun): Promise<Stepped> {
  return stepThrough({
    url: server!.url,
    schema,
    seed: String(seed),
    isSmall,
    ...(faultInjector && { faultInjector }),
  })
}

/** The first run that matches: usually of the known seed, else of the first 100. */
export async function findSeed(
  known: number,
  isFound: (run: Stepped) => boolean,
  run: (seed: number) => Promise<Stepped>,
): Promise<Stepped> {
  for (const seed of [known, ...Array.from({ length: MAX_SEEDS }, (_, index) => index + 1)]) {
    const stepped = await run(seed)
    if (isFound(stepped)) return stepped
  }
  throw new Error(`no match in ${MAX_SEEDS} seeds`)
}
