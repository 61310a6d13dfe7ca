/** The open channels and bridges of a fake Asterisk, for the AMI actions `CoreShowChannels`, `BridgeList` and `Getvar`. */
import { type AmiEvent, fieldOf } from './asterisk-ami-recording.js'

/** The channels that are open at the current position, as `CoreShowChannels` lists them. */
export interface AmiChannels {
  /** Updates the channels by an event. */
  apply(event: AmiEvent): void
  clear(): void
  ids(): readonly string[]
  /** The lines of each channel's `CoreShowChannel`, between `ActionID` and the empty line. */
  list(): readonly (readonly string[])[]
  /** The lines of each bridge's `BridgeListItem`, between `ActionID` and the empty line. */
  bridges(): readonly (readonly string[])[]
  /**
   * Returns the value of `CDR(start,u)`, `CDR(answer,u)` or `CHANNEL(onhold)` of a channel, '' for others; `undefined`:
   * there is no such channel.
   */
  variable(channelName: string, variable: string): string | undefined
}

interface Channel {
  readonly name: string
  readonly createdMs: number
  readonly answeredMs: number | undefined
  /** Whether its phone holds: the others in its bridge hear music. */
  readonly isHolding: boolean
  readonly snapshot: readonly string[]
  readonly application: readonly string[]
  readonly bridgeId: string
}

/** Headers of the channel snapshot that every event of a channel contains. */
const SNAPSHOT_HEADERS: ReadonlySet<string> = new Set([
  ...['Channel', 'ChannelState', 'ChannelStateDesc', 'CallerIDNum', 'CallerIDName', 'ConnectedLineNum'],
  ...['ConnectedLineName', 'Language', 'AccountCode', 'Context', 'Exten', 'Priority', 'Uniqueid', 'Linkedid'],
  'ChanVariable',
])

/** Headers of the bridge snapshot that every event of a bridge contains. */
const BRIDGE_HEADERS = /^Bridge(?:Uniqueid|Type|Technology|Creator|Name|NumChannels|VideoSourceMode)$/
/** `ChannelState` of an answered channel. */
const UP = '6'

export function createAmiChannels(): AmiChannels {
  const open = new Map<string, Channel>()
  const bridges = new Map<string, readonly string[]>()
  let nowMs = 0

  const newChannel = (createdMs: number): Channel => ({
    name: '',
    createdMs,
    answeredMs: undefined,
    isHolding: false,
    snapshot: [],
    application: ['', ''],
    bridgeId: '',
  })
  return {
    apply({ name, lines, atMs }) {
      nowMs = atMs
      const bridgeId = fieldOf(lines, 'BridgeUniqueid')
      if (name === 'BridgeDestroy') bridges.delete(bridgeId ?? '')
      else if (bridgeId !== undefined) {
        const snapshot = lines.filter(([key]) => BRIDGE_HEADERS.test(key))
        bridges.set(
          bridgeId,
          snapshot.map(([key, value]) => `${key}: ${value}`),
        )
      }
      const id = fieldOf(lines, 'Uniqueid') ?? ''
      if (name === 'Hangup') return void open.delete(id)
      const previous = open.get(id) ?? (name === 'Newchannel' ? newChannel(atMs) : undefined)
      // An event without a channel snapshot does not describe the channel.
      if (!previous || fieldOf(lines, 'ChannelState') === undefined) return
      const bridge = name === 'BridgeEnter' ? fieldOf(lines, 'BridgeUniqueid') : undefined
      const application = [fieldOf(lines, 'Application') ?? '', fieldOf(lines, 'AppData') ?? '']
      const isUp = fieldOf(lines, 'ChannelState') === UP
      open.set(id, {
        name: fieldOf(lines, 'Channel') ?? previous.name,
        answeredMs: previous.answeredMs ?? (isUp ? atMs : undefined),
        isHolding: name === 'Hold' || (previous.isHolding && !['Unhold', 'BridgeLeave'].includes(name)),
        createdMs: previous.createdMs,
        snapshot: lines
          .filter(([key]) => SNAPSHOT_HEADERS.has(key))
          .map(([key, value]) => `${key}: ${value}`),
        application: name === 'Newexten' ? application : previous.application,
        bridgeId: bridge ?? (name === 'BridgeLeave' ? '' : previous.bridgeId),
      })
    },
    clear() {
      open.clear()
      bridges.clear()
    },
    ids: () => [...open.keys()],
    list: () =>
      [...open.values()].map(({ createdMs, snapshot, application, bridgeId }) => [
        ...snapshot,
        `Application: ${application[0]}`,
        `ApplicationData: ${application[1]}`,
        `Duration: ${formatDuration(Math.max(0, nowMs - createdMs))}`,
        `BridgeId: ${bridgeId}`,
      ]),
    bridges: () => [...bridges.values()],
    variable(channelName, variable) {
      const channel = [...open.values()].find(({ name }) => name === channelName)
      if (!channel) return undefined
      switch (variable) {
        case 'CDR(start,u)':
          return formatSeconds(channel.createdMs)
        case 'CDR(answer,u)':
          return formatSeconds(channel.answeredMs ?? 0)
        case 'CHANNEL(onhold)': {
          const isPutOnHold = [...open.values()].some(
            (other) =>
              other !== channel &&
              other.isHolding &&
              channel.bridgeId !== '' &&
              other.bridgeId === channel.bridgeId,
          )
          return isPutOnHold ? '1' : '0'
        }
        default:
          return ''
      }
    },
  }
}

function formatSeconds(ms: number): string {
  return (ms / 1000).toFixed(6)
}

function formatDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}
