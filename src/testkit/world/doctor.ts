import type { Clock, Random, Sender } from '../../ports.js'
import type { Store } from '../../store/contract.js'
import type { Approve } from './names.js'
import type { NodeLife } from './node-life.js'

/** Doors with something wrong behind them: how it is seen that each invariant's check can fail. */
export interface Doctor {
  /** What keeps everything, for all nodes: a store that breaks its promises. */
  store?(store: Store): Store
  /** What a node asks of its store: a core that asks for the wrong things. */
  asks?(store: Store, life: NodeLife): Store
  /** The guard between a host's name and the addresses that are dialled. */
  approve?(approve: Approve): Approve
  sender?(sender: Sender, life: NodeLife): Sender
  clock?(clock: Clock, life: NodeLife): Clock
  random?(random: Random, life: NodeLife): Random
}
