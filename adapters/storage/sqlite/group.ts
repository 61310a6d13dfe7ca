import { errorCode, type HookswitchError } from 'hookswitch/store'
import { type Call, effectOf, type Outcome } from './call.js'
import type { SqliteHandle } from './driver.js'
import type { Engine } from './engine.js'
import { isBusy, storeError } from './errors.js'
import { waitFor } from './pragmas.js'
import type { WakeUps } from './wake-ups.js'

/** What a group of calls is carried out on. */
export interface GroupDoors {
  readonly db: SqliteHandle
  readonly engine: Engine
  /** What the engine tells while it works. */
  readonly wakeUps: WakeUps
  /** For sentences about errors. */
  readonly path: string
  /** How long a call may block this thread while another connection is in its way, ms. */
  readonly waitMs: number
}

/** How long one that stands alone may: it is rare, and nobody begins it twice without need. */
const ALONE_WAIT_MS = 1_000

/** Of a call that was put off: nothing yet. */
type Ended = Outcome | undefined

/**
 * Carries out calls in their order, one transaction around all of them: the disk is waited for once. A call that is
 * refused (HookswitchError) has written nothing and hurts no other. Anything else thrown undoes all of them; then each
 * is tried alone, and fails alone. While another connection writes, calls that only read are carried out all the same.
 *
 * @param patient the calls that write are put off then, instead of failing
 */
export type RunGroup = (calls: readonly Call[], patient: boolean) => readonly Ended[]

export function groupRunner({ db, engine, wakeUps, path, waitMs }: GroupDoors): RunGroup {
  const read = db.prepare('BEGIN')
  waitFor(db, waitMs)
  // A transaction that begins by reading cannot wait for its turn to write.
  const write = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')

  function undo(): void {
    wakeUps.drop()
    try {
      rollback.run()
    } catch {
      // A full disk, and a few other errors, have undone it already.
    }
    engine.rolledBack()
  }

  function together(calls: readonly Call[], patient: boolean): readonly Ended[] {
    const onlyReads = calls.every(reads)
    try {
      ;(onlyReads ? read : write).run()
    } catch (thrown) {
      const ended = patient && isBusy(thrown) ? undefined : { failure: storeError(thrown, path) }
      if (onlyReads) return calls.map(() => ended)
      const readers = together(calls.filter(reads), patient)
      let next = 0
      return calls.map((call) => (reads(call) ? readers[next++] : ended))
    }
    let outcomes: readonly Outcome[]
    try {
      outcomes = calls.map((call) => carriedOut(engine, call))
      commit.run()
    } catch (thrown) {
      undo()
      if (calls.length === 1) return [{ failure: storeError(thrown, path) }]
      return calls.flatMap((call) => together([call], patient))
    }
    engine.committed()
    wakeUps.keep()
    return outcomes
  }

  function alone(call: Call): Ended {
    try {
      waitFor(db, ALONE_WAIT_MS)
      return carriedOut(engine, call)
    } catch (thrown) {
      return { failure: storeError(thrown, path) }
    } finally {
      waitFor(db, waitMs)
    }
  }

  return (calls, patient) => {
    if (!calls.some(standsAlone)) return together(calls, patient)
    return partsOf(calls).flatMap((part) =>
      standsAlone(part[0]!) ? alone(part[0]!) : together(part, patient),
    )
  }
}

const reads = (call: Call) => effectOf(call) === 'reads'
const standsAlone = (call: Call) => effectOf(call) === 'alone'

/** In their order: what stands alone by itself, the others together. */
function partsOf(calls: readonly Call[]): readonly (readonly Call[])[] {
  const parts: Call[][] = []
  let open = false
  for (const call of calls) {
    const joins = open && !standsAlone(call)
    if (joins) parts.at(-1)!.push(call)
    else parts.push([call])
    open = !standsAlone(call)
  }
  return parts
}

function carriedOut(engine: Engine, { door, method, args }: Call): Outcome {
  const methods = engine[door] as unknown as Readonly<Record<string, (...args: unknown[]) => unknown>>
  try {
    return { value: methods[method]!(...args) }
  } catch (thrown) {
    if (errorCode(thrown)) return { failure: thrown as HookswitchError }
    throw thrown
  }
}
