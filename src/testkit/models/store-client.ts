import type { HookRow, StoreCall } from './store-calls.js'

/** A claim as its holder knows it. */
export interface Held {
  readonly id: string
  readonly webhookId: string
  readonly callId: string
  readonly epoch: number
  readonly fence: number
  readonly attempts: number
}

/**
 * Who asks the store: knows only what it was told, so that it can go on asking while answers are under way. What it
 * asks next is chosen from that.
 */
export interface StoreClient {
  readonly shared: boolean
  readonly leaseMs: number
  now: number
  owner: string
  /** Nodes that owned the shards before. */
  readonly former: string[]
  readonly hooks: HookRow[]
  readonly held: Held[]
  readonly settled: Held[]
  /** Of all that was asked to be accepted. */
  readonly known: Map<string, Omit<Held, 'fence' | 'attempts'>>
  lastRead: string | undefined
  /** Of a deleted webhook nothing may be left by now. */
  pruned: boolean
  /** A new id: `d1`, `d2`, … */
  newId(kind: string): string
}

export function storeClient(shared: boolean, leaseMs: number, now: number): StoreClient {
  const made: Record<string, number> = {}
  return {
    shared,
    leaseMs,
    now,
    owner: '',
    former: [],
    hooks: [],
    held: [],
    settled: [],
    known: new Map(),
    lastRead: undefined,
    pruned: false,
    newId(kind) {
      made[kind] = (made[kind] ?? 0) + 1
      return `${kind}${made[kind]}`
    },
  }
}

/** Before a call is sent. */
export function noteCall(client: StoreClient, call: StoreCall): void {
  if (call.do === 'own' && call.owner !== client.owner) {
    if (client.owner !== '') client.former.push(client.owner)
    client.owner = call.owner
  }
  if (call.do === 'accept') {
    for (const { id, webhookId, callId, epoch } of call.deliveries) {
      client.known.set(id, { id, webhookId, callId, epoch })
    }
  }
  if (call.do === 'prune') client.pruned = true
  if (call.do === 'settle' && call.owner === client.owner) {
    for (const { id, fence, from } of call.settlements) {
      const at = client.held.findIndex((one) => one.id === id && one.fence === fence)
      if (from === 'in_flight' && at >= 0) client.settled.push(...client.held.splice(at, 1))
    }
  }
}

/** When its answer is there. */
export function noteAnswer(client: StoreClient, call: StoreCall, seen: unknown): void {
  const put = (hook: HookRow) => {
    const at = client.hooks.findIndex(({ id }) => id === hook.id)
    if (at < 0) client.hooks.push(hook)
    else if (client.hooks[at]!.revision < hook.revision) client.hooks[at] = hook
  }
  if (call.do === 'insert' || (call.do === 'replace' && seen === true)) put(call.hook)
  if (call.do === 'read' && seen !== null) put(seen as HookRow)
  if (call.do === 'page') client.lastRead = (seen as string[]).at(-1) ?? client.lastRead
  if (call.do === 'claim' && Array.isArray(seen)) {
    for (const { id, fence, attempts } of seen as Held[]) {
      const known = client.known.get(id)
      if (known) client.held.push({ ...known, fence, attempts })
    }
  }
}
