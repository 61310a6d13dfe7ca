/** Queries the details of listed channels over ARI. */
import type { Clock } from 'hookswitch'
import { addDetail, type DetailQuery } from './channel-details.js'

/** Dependencies of `queryAriDetails`. */
interface AriDetailsDeps {
  /** Returns the body of a response. */
  readonly get: (path: string) => Promise<string>
  readonly clock: Pick<Clock, 'sleep'>
  /** How long all queries together may take, milliseconds. */
  readonly timeoutMs: number
  /** Aborts when the connection is over. */
  readonly signal: AbortSignal
}

/** Requests at the same time. */
const MAX_CONCURRENT = 8

/**
 * Queries details and adds them to their channels. A query that fails is skipped: the channel may have ended, or this
 * Asterisk lacks the function. What is not known in time stays unknown, because the open channels wait for it.
 */
export async function queryAriDetails(
  { get, clock, timeoutMs, signal }: AriDetailsDeps,
  queries: readonly DetailQuery[],
): Promise<void> {
  const done = new AbortController()
  const ended = AbortSignal.any([signal, done.signal])
  let next = 0
  const work = async () => {
    for (let query = queries[next++]; query && !ended.aborted; query = queries[next++]) {
      const id = encodeURIComponent(query.listed.channel.id)
      const path = `/channels/${id}/variable?variable=${encodeURIComponent(query.variable)}`
      const body = await get(path).catch(() => undefined)
      if (!ended.aborted) addDetail(query, variableValue(body))
    }
  }
  const finished = Promise.all(Array.from({ length: MAX_CONCURRENT }, work))
  await Promise.race([finished, clock.sleep(timeoutMs, ended)])
  done.abort()
}

function variableValue(body: string | undefined): string | undefined {
  try {
    const { value } = JSON.parse(body ?? '{}') as { value?: unknown }
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
