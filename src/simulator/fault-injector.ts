import type { Clock } from 'hookswitch'
import type { Random, Sender } from 'hookswitch/adapter'
import type { Store } from 'hookswitch/store'
import type { Approve } from './connect.js'
import type { NodeLife } from './node-life.js'

/**
 * Replaces dependencies of the simulated nodes by broken ones. A test of the checks: each broken dependency must lead
 * to a violation.
 */
export interface FaultInjector {
  /** Breaks the shared store, for all nodes. */
  store?(store: Store): Store
  /** Breaks how one node uses the store. */
  nodeStore?(store: Store, life: NodeLife): Store
  /** Breaks the guard that resolves host names to permitted addresses. */
  approve?(approve: Approve): Approve
  /** Breaks a node's HTTP sender. */
  sender?(sender: Sender, life: NodeLife): Sender
  /** Breaks a node's clock. */
  clock?(clock: Clock, life: NodeLife): Clock
  /** Breaks a node's source of randomness. */
  random?(random: Random, life: NodeLife): Random
}
