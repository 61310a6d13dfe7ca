import { type AmiEvent, fieldOf } from './asterisk-ami-recording.js'

/** The channels that are open at a moment of the recording, as `CoreShowChannels` lists them. */
export interface AmiChannels {
  happen(event: AmiEvent): void
  clear(): void
  ids(): readonly string[]
  /** The lines of each channel's `CoreShowChannel`, between `ActionID` and the empty line. */
  show(): readonly (readonly string[])[]
}

interface Channel {
  readonly createdMs: number
  readonly snapshot: readonly string[]
  readonly application: readonly string[]
  readonly bridgeId: string
}

/** What every event of a channel repeats of it. */
const SNAPSHOT: ReadonlySet<string> = new Set([
  ...['Channel', 'ChannelState', 'ChannelStateDesc', 'CallerIDNum', 'CallerIDName', 'ConnectedLineNum'],
  ...['ConnectedLineName', 'Language', 'AccountCode', 'Context', 'Exten', 'Priority', 'Uniqueid', 'Linkedid'],
  'ChanVariable',
])

export function amiChannels(): AmiChannels {
  const open = new Map<string, Channel>()
  let nowMs = 0

  const begun = (createdMs: number): Channel => ({
    createdMs,
    snapshot: [],
    application: ['', ''],
    bridgeId: '',
  })
  return {
    happen({ name, lines, atMs }) {
      nowMs = atMs
      const id = fieldOf(lines, 'Uniqueid') ?? ''
      if (name === 'Hangup') return void open.delete(id)
      const before = open.get(id) ?? (name === 'Newchannel' ? begun(atMs) : undefined)
      // An event that only names the channel does not describe it.
      if (!before || fieldOf(lines, 'ChannelState') === undefined) return
      const bridge = name === 'BridgeEnter' ? fieldOf(lines, 'BridgeUniqueid') : undefined
      const application = [fieldOf(lines, 'Application') ?? '', fieldOf(lines, 'AppData') ?? '']
      open.set(id, {
        createdMs: before.createdMs,
        snapshot: lines.filter(([key]) => SNAPSHOT.has(key)).map(([key, value]) => `${key}: ${value}`),
        application: name === 'Newexten' ? application : before.application,
        bridgeId: bridge ?? (name === 'BridgeLeave' ? '' : before.bridgeId),
      })
    },
    clear: () => open.clear(),
    ids: () => [...open.keys()],
    show: () =>
      [...open.values()].map(({ createdMs, snapshot, application, bridgeId }) => [
        ...snapshot,
        `Application: ${application[0]}`,
        `ApplicationData: ${application[1]}`,
        `Duration: ${clockTime(Math.max(0, nowMs - createdMs))}`,
        `BridgeId: ${bridgeId}`,
      ]),
  }
}

function clockTime(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}
