/** The open channels of a fake Asterisk, for the AMI action `CoreShowChannels`. */
import { type AmiEvent, fieldOf } from './asterisk-ami-recording.js'

/** The channels that are open at the current position, as `CoreShowChannels` lists them. */
export interface AmiChannels {
  /** Updates the channels by an event. */
  apply(event: AmiEvent): void
  clear(): void
  ids(): readonly string[]
  /** The lines of each channel's `CoreShowChannel`, between `ActionID` and the empty line. */
  list(): readonly (readonly string[])[]
}

interface Channel {
  readonly createdMs: number
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

export function createAmiChannels(): AmiChannels {
  const open = new Map<string, Channel>()
  let nowMs = 0

  const newChannel = (createdMs: number): Channel => ({
    createdMs,
    snapshot: [],
    application: ['', ''],
    bridgeId: '',
  })
  return {
    apply({ name, lines, atMs }) {
      nowMs = atMs
      const id = fieldOf(lines, 'Uniqueid') ?? ''
      if (name === 'Hangup') return void open.delete(id)
      const previous = open.get(id) ?? (name === 'Newchannel' ? newChannel(atMs) : undefined)
      // An event without a channel snapshot does not describe the channel.
      if (!previous || fieldOf(lines, 'ChannelState') === undefined) return
      const bridge = name === 'BridgeEnter' ? fieldOf(lines, 'BridgeUniqueid') : undefined
      const application = [fieldOf(lines, 'Application') ?? '', fieldOf(lines, 'AppData') ?? '']
      open.set(id, {
        createdMs: previous.createdMs,
        snapshot: lines
          .filter(([key]) => SNAPSHOT_HEADERS.has(key))
          .map(([key, value]) => `${key}: ${value}`),
        application: name === 'Newexten' ? application : previous.application,
        bridgeId: bridge ?? (name === 'BridgeLeave' ? '' : previous.bridgeId),
      })
    },
    clear: () => open.clear(),
    ids: () => [...open.keys()],
    list: () =>
      [...open.values()].map(({ createdMs, snapshot, application, bridgeId }) => [
        ...snapshot,
        `Application: ${application[0]}`,
        `ApplicationData: ${application[1]}`,
        `Duration: ${formatDuration(Math.max(0, nowMs - createdMs))}`,
        `BridgeId: ${bridgeId}`,
      ]),
  }
}

function formatDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}
