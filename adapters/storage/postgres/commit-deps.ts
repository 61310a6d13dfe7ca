import type { Memory } from './commit-memory.js'
import type { Nodes } from './nodes.js'
import type { Notifier } from './notifications.js'
import type { Deps } from './session-deps.js'

/** Dependencies of both paths of a group. */
export interface CommitDeps extends Pick<Deps, 'session' | 'schema'> {
  readonly notifier: Notifier
  readonly nodes: Nodes
  readonly memory: Memory
}
