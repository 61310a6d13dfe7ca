import { randomInt } from 'node:crypto'
import type { Claim, ClaimRequest, ClaimResult, ReadyEndpoint, Webhook } from 'hookswitch/store'
import { shardOf } from 'hookswitch/store'
import { type Looked, looks, merged, type Named, share, takeValues } from './claim-looked.js'
import { webhookMemory } from './claim-webhooks.js'
import { isUnsure } from './errors.js'
import type { Flights } from './lanes-flights.js'
import { deliveryTo, endpointOf } from './rows.js'
import { int2Array, int4Array, textArray } from './rows-arrays.js'
import type { Doors } from './session-doors.js'
import { claimStatements, type LookRow, type TakenRow } from './sql/claim.js'

export interface ClaimDoors extends Pick<Doors, 'session' | 'schema'> {
  readonly flights: Pick<Flights, 'begin'>
  /** Endpoints as they stand, whoever owns them. */
  standing(webhookIds: readonly string[]): Promise<readonly ReadyEndpoint[]>
  /** A claim was made, or not: nobody can tell. Its token finds what it left in flight, if it did. */
  lost(token: number): void
}

const MOST_TOKENS = 2 ** 47

/** Claims, one call at a time: so that no two of this node reach for the same heads. */
export function claimer({ session, schema, flights, standing, lost }: ClaimDoors) {
  const sql = claimStatements(schema)
  const memory = webhookMemory()
  let last: Promise<unknown> = Promise.resolve()

  async function claimNow(request: ClaimRequest): Promise<ClaimResult> {
    const named = merged(request.endpoints)
    if (named.size === 0) return { claims: [], webhooks: new Map(), endpoints: [] }
    const looked = looks(await look(request, named))
    const count = share(looked, named, request)
    const claimed = resultOf(looked, count === 0 ? [] : await take(request, looked))
    return looked.size === named.size ? claimed : withOthers(claimed, named)
  }

  function look({ owner, now }: ClaimRequest, named: Named): Promise<readonly LookRow[]> {
    const ids = [...named.keys()]
    const rooms = Array.from(named.values(), ({ room }) => Math.max(0, room))
    const shards = [...new Set(ids.map(shardOf))]
    return session.query<LookRow>(sql.look, [
      textArray(ids),
      int4Array(rooms),
      int4Array(ids.map(memory.revisionOf)),
      int2Array(shards),
      owner,
      now,
    ])
  }

  /** Takes what was decided. What has changed since it was looked at is left, and looked at again by the next claim. */
  async function take(
    { owner, now }: ClaimRequest,
    looked: ReadonlyMap<string, Looked>,
  ): Promise<readonly TakenRow[]> {
    const token = randomInt(1, MOST_TOKENS)
    try {
      return await session.query<TakenRow>(sql.take, takeValues(looked.values(), token, owner, now))
    } catch (thrown) {
      if (isUnsure(thrown)) lost(token)
      throw thrown
    }
  }

  function resultOf(looked: ReadonlyMap<string, Looked>, rows: readonly TakenRow[]): ClaimResult {
    const byId = new Map(rows.map((row) => [row.id, row]))
    const claims: Claim[] = []
    const webhooks = new Map<string, Webhook>()
    const endpoints: ReadyEndpoint[] = []
    for (const { row, heads, taken } of looked.values()) {
      const webhook = memory.webhookOf(row)
      let headMs: number | null = null
      for (const { id, dueMs } of heads) {
        if (!byId.has(id) && (headMs === null || dueMs < headMs)) headMs = dueMs
      }
      endpoints.push(endpointOf(row, headMs))
      for (const { id } of taken) {
        const claimed = byId.get(id)
        if (!claimed) continue
        const delivery = deliveryTo(row, claimed)
        const { body, traceparent } = claimed
        flights.begin(row.webhookId, claimed)
        claims.push(traceparent === null ? { delivery, body } : { delivery, body, traceparent })
        webhooks.set(webhook.id, webhook)
      }
    }
    memory.trim()
    return { claims, webhooks, endpoints }
  }

  /** Nothing to wait for where another node is: whoever that is is told of its own. */
  async function withOthers(
    { claims, webhooks, endpoints }: ClaimResult,
    named: Named,
  ): Promise<ClaimResult> {
    const known = new Set(endpoints.map(({ webhookId }) => webhookId))
    const others = await standing([...named.keys()].filter((webhookId) => !known.has(webhookId)))
    const idle = others.map((endpoint) => ({ ...endpoint, failing: false, dueMs: undefined }))
    return { claims, webhooks, endpoints: [...endpoints, ...idle] }
  }

  return {
    claim(request: ClaimRequest): Promise<ClaimResult> {
      const claimed = last.then(() => claimNow(request))
      last = claimed.catch(() => {})
      return claimed
    },
    rest: async () => void (await last),
  }
}
