/** Runs of the stepper by seed, for tests. */
import type { PgServer } from '../adapters/storage/pg-cluster.js'
import type { Doctor } from './gates.js'
import { stepThrough } from './step.js'

export type Stepped = Awaited<ReturnType<typeof stepThrough>>

const MOST_SEEDS = 100

export interface SeededRun {
  readonly server: PgServer | undefined
  readonly schema: string
  readonly seed: number
  readonly doctor?: Doctor | undefined
  /** One webhook and one call. */
  readonly isSmall?: boolean
}

export function steppedThrough({
  server,
  schema,
  seed,
  doctor,
  isSmall = false,
}: SeededRun): Promise<Stepped> {
  return stepThrough({ url: server!.url, schema, seed: String(seed), isSmall, ...(doctor && { doctor }) })
}

/** The first run that shows it, of the known seed as a rule. */
export async function shown(
  known: number,
  isShown: (run: Stepped) => boolean,
  run: (seed: number) => Promise<Stepped>,
): Promise<Stepped> {
  for (const seed of [known, ...Array.from({ length: MOST_SEEDS }, (_, index) => index + 1)]) {
    const stepped = await run(seed)
    if (isShown(stepped)) return stepped
  }
  throw new Error(`not in ${MOST_SEEDS} seeds`)
}
