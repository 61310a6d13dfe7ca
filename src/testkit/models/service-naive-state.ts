import type { Manner } from './service-calls.js'

/** One event on its way to one webhook. */
export interface Sent {
  readonly hook: string
  readonly lane: string
  readonly event: string
  readonly epoch: number
  state: 'waiting' | 'in_flight' | 'delivered' | 'exhausted' | 'cancelled' | 'quarantined'
  /** While waiting: when it is sent; in flight: when it is answered. Unset: others of its lane come first. */
  atMs?: number | undefined
  tries: number
  interruptions: number
}

/** All that a naive service knows: lists, in the order in which things came. Times are ms since its start. */
export interface NaiveService {
  nowMs: number
  accounts: { id: string; parent?: string; enabled: boolean; key: number; password: number }[]
  tokens: { name: string; account: string; by: 'key' | 'password'; version: number; untilMs: number }[]
  hooks: {
    id: string
    account: string
    kind: string
    below: boolean
    name: string
    enabled: boolean
    gone: boolean
    revision: number
    epoch: number
    manner: Manner
  }[]
  keys: { account: string; key: string; body: string; event: string; number: number }[]
  numbers: Record<string, number>
  sent: Sent[]
  /** What reached whom, in order, by webhook and lane: the event, and when. */
  received: Record<string, string[]>
}

export function naiveService(): NaiveService {
  const account = (id: string, parent?: string) => ({
    id,
    enabled: true,
    key: 0,
    password: 0,
    ...(parent && { parent }),
  })
  const accounts = [account('root'), account('branch', 'root'), account('other')]
  return { nowMs: 0, accounts, tokens: [], hooks: [], keys: [], numbers: {}, sent: [], received: {} }
}
