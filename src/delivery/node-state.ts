import type { Positions } from './positions.js'
import type { Lease } from './queue-store.js'

/** What one node knows about its lease and its shards. `queue-sync` changes it, the commit loop reads it. */
export interface NodeState {
  /** `undefined`: the node has none at the moment. It accepts events, but starts and settles nothing. */
  lease: Lease | undefined
  /** The version of others' changes that the queue includes. */
  version: number
  /** Makes the positions of events, deliveries and replays. */
  positions: Positions
  /** Shards whose waiting deliveries are in the queue. Nothing is started in others. */
  readonly loaded: Set<number>
  /** Deliveries that wait or are in flight in the shards of other nodes, as they reported it last. */
  pendingElsewhere: number
  /** When this node read last what others have changed, monotonic, ms; at first, when it was created. */
  readMs: number
}
