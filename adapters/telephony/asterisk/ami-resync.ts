/**
 * The resync of one AMI connection: lists the open bridges and channels, queries details of the channels, and reconciles
 * all of it with the mapping. Asterisk answers the actions of a connection in their order. Sockets are left to others.
 */
import type { MappedBatch } from '../source/mapped-events.js'
import { parseAmiBridge, parseAmiChannel } from './ami-event.js'
import type { AmiMessage } from './ami-message.js'
import { addDetail, type DetailQuery, detailQueries } from './channel-details.js'
import type { Mapping, RegistrySnapshot } from './mapping.js'
import type { Bridge, ListedChannel } from './switch-event.js'

/** Dependencies of a resync. */
interface AmiResyncDeps {
  readonly mapping: Mapping
  readonly sendAction: (action: string, id: string, ...lines: readonly string[]) => void
  /** Takes what the mapping yields, once. */
  readonly onReconciled: (batch: MappedBatch) => void
  /** The current time, Unix milliseconds. */
  readonly nowMs: () => number
}

/** A resync. Action ids distinguish its answers from those of other clients. */
interface AmiResync {
  /** Requests the lists; called once. */
  start(): void
  /** Handles an item or the end of a list. */
  onEvent(message: AmiMessage): void
  /** Handles a response. @throws an error with the reason why the list of channels is refused */
  onResponse(message: AmiMessage, reason: () => string): void
}

/** Events of a resync. */
export const RESYNC_EVENTS: ReadonlySet<string> = new Set([
  'BridgeListItem',
  'CoreShowChannel',
  'CoreShowChannelsComplete',
])

/** Maximum number of channels in a list. */
const MAX_LISTED = 200_000

const BRIDGES_ID = 'hookswitch-bridges'
const LIST_ID = 'hookswitch-list'
const DETAIL_ID = 'hookswitch-detail-'
/** The id of a ping behind all queries: its answer is the last. */
const DETAILS_END_ID = 'hookswitch-details-end'

/** Whether a value fits on one line of an action: values may contain a bare LF, which ends a line of an action. */
function isLine(value: string): boolean {
  return !/[\r\n\0]/.test(value)
}

/** Creates the resync of one connection. */
export function createAmiResync({ mapping, sendAction, onReconciled, nowMs }: AmiResyncDeps): AmiResync {
  let snapshot: RegistrySnapshot | undefined
  const bridges = new Map<string, Bridge>()
  const listed: ListedChannel[] = []
  let queries: readonly DetailQuery[] = []

  const finish = (): void => {
    if (!snapshot) return
    const batch = mapping.reconcile(snapshot, listed, nowMs())
    snapshot = undefined
    onReconciled(batch)
  }

  const onListComplete = (): void => {
    queries = detailQueries(mapping, listed, nowMs()).filter(({ listed: { channel } }) =>
      isLine(channel.name),
    )
    if (queries.length === 0) finish()
    queries.forEach(({ listed: { channel }, variable }, index) => {
      sendAction('Getvar', `${DETAIL_ID}${index}`, `Channel: ${channel.name}`, `Variable: ${variable}`)
    })
    if (queries.length > 0) sendAction('Ping', DETAILS_END_ID)
  }

  return {
    start() {
      snapshot = mapping.snapshot()
      sendAction('BridgeList', BRIDGES_ID)
      sendAction('CoreShowChannels', LIST_ID)
    },
    onEvent(message) {
      const id = message.get('ActionID')
      if (id === BRIDGES_ID) {
        const bridge = message.event === 'BridgeListItem' ? parseAmiBridge(message) : undefined
        if (bridge) bridges.set(bridge.id, bridge)
      } else if (id === LIST_ID && snapshot) {
        if (message.event === 'CoreShowChannelsComplete') return onListComplete()
        const channel = parseAmiChannel(message, bridges)
        if (channel && listed.push(channel) === MAX_LISTED)
          throw new Error(`a list of more than ${MAX_LISTED} channels`)
      }
    },
    onResponse(message, reason) {
      const id = message.get('ActionID')
      const isError = message.get('Response') === 'Error'
      if (id === LIST_ID && isError) {
        throw new Error(
          `the switch refused CoreShowChannels: ${reason()} (manager.conf: the user needs write = reporting)`,
        )
      }
      if (id === DETAILS_END_ID) return finish()
      if (!id?.startsWith(DETAIL_ID) || isError) return
      const query = queries[Number(id.slice(DETAIL_ID.length))]
      if (query) addDetail(query, message.get('Value'))
    },
  }
}
