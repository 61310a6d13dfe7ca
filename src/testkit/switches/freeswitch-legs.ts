/** The open legs of a fake FreeSWITCH, for the API commands that list and dump channels. */
import {
  type FreeswitchEvent,
  type FreeswitchHeader,
  findHeader,
  toJson,
  toPlain,
} from './freeswitch-recording.js'

/** The legs that are open at the current position, and the API output that describes them. */
export interface FreeswitchLegs {
  /** Updates the legs by an event. */
  apply(event: FreeswitchEvent): void
  clear(): void
  has(uuid: string): boolean
  readonly count: number
  /** Output of `show channels as json`. */
  listChannels(): string
  /** Output of `uuid_dump`; `undefined`: there is no such leg. */
  dump(uuid: string, format: string): string | undefined
}

interface Leg {
  readonly created: readonly FreeswitchHeader[]
  readonly latest: FreeswitchEvent
  /** What the leg is bridged with now. */
  readonly bridge: Bridge | undefined
}

interface Bridge {
  readonly uuid: string
  /** `Caller-Channel-Bridged-Time`. */
  readonly sinceUs: string
}

/** Columns of `show channels` and their headers (FreeSWITCH, switch_core_sqldb.c, table channels). */
const COLUMNS: readonly (readonly [column: string, header: string])[] = [
  ['name', 'Channel-Name'],
  ['state', 'Channel-State'],
  ['cid_name', 'Caller-Caller-ID-Name'],
  ['cid_num', 'Caller-Caller-ID-Number'],
  ['ip_addr', 'Caller-Network-Addr'],
  ['dest', 'Caller-Destination-Number'],
  ['application', 'variable_current_application'],
  ['application_data', 'variable_current_application_data'],
  ['dialplan', 'Caller-Dialplan'],
  ['context', 'Caller-Context'],
  ['read_codec', 'Channel-Read-Codec-Name'],
  ['read_rate', 'Channel-Read-Codec-Rate'],
  ['read_bit_rate', 'Channel-Read-Codec-Bit-Rate'],
  ['write_codec', 'Channel-Write-Codec-Name'],
  ['write_rate', 'Channel-Write-Codec-Rate'],
  ['write_bit_rate', 'Channel-Write-Codec-Bit-Rate'],
  ['secure', 'variable_rtp_has_crypto'],
  ['hostname', 'FreeSWITCH-Switchname'],
  ['presence_id', 'Channel-Presence-ID'],
  ['presence_data', 'Channel-Presence-Data'],
  ['accountcode', 'variable_accountcode'],
  ['callstate', 'Channel-Call-State'],
  ['callee_name', 'Caller-Callee-ID-Name'],
  ['callee_num', 'Caller-Callee-ID-Number'],
  ['callee_direction', 'Caller-Callee-Direction'],
  ['call_uuid', 'Channel-Call-UUID'],
]
/** Columns with the values of the leg's first event. */
const INITIAL_COLUMNS: readonly (readonly [column: string, header: string])[] = [
  ['initial_cid_name', 'Caller-Caller-ID-Name'],
  ['initial_cid_num', 'Caller-Caller-ID-Number'],
  ['initial_ip_addr', 'Caller-Network-Addr'],
  ['initial_dest', 'Caller-Destination-Number'],
  ['initial_dialplan', 'Caller-Dialplan'],
  ['initial_context', 'Caller-Context'],
]

/** @param coreUuid returns the current `Core-UUID` */
export function createFreeswitchLegs(coreUuid: () => string): FreeswitchLegs {
  const open = new Map<string, Leg>()

  /** Only one leg of a bridge has an event, but FreeSWITCH sets the variables and times of both. */
  const setBridge = (event: FreeswitchEvent, isBridged: boolean) => {
    const headers = event.headers()
    const pair = ['Bridge-A-Unique-ID', 'Bridge-B-Unique-ID'].map((name) => findHeader(headers, name) ?? '')
    const sinceUs = findHeader(headers, 'Caller-Channel-Bridged-Time') ?? '0'
    for (const [at, uuid] of pair.entries()) {
      const leg = open.get(uuid)
      const other = pair[1 - at] ?? ''
      if (!leg || (!isBridged && leg.bridge?.uuid !== other)) continue
      open.set(uuid, { ...leg, bridge: isBridged ? { uuid: other, sinceUs } : undefined })
    }
  }

  return {
    apply(event) {
      const { name, uuid = '' } = event
      const leg = open.get(uuid)
      if (name === 'CHANNEL_DESTROY') open.delete(uuid)
      else if (leg) open.set(uuid, { ...leg, latest: event })
      else if (name === 'CHANNEL_CREATE')
        open.set(uuid, { created: event.headers(), latest: event, bridge: undefined })
      if (name === 'CHANNEL_BRIDGE' || name === 'CHANNEL_UNBRIDGE')
        setBridge(event, name === 'CHANNEL_BRIDGE')
    },
    clear: () => open.clear(),
    has: (uuid) => open.has(uuid),
    get count() {
      return open.size
    },
    listChannels() {
      const rows = [...open].map(([uuid, leg]) => channelRow(uuid, leg))
      const count = ['row_count', rows.length] as const
      return JSON.stringify(Object.fromEntries(rows.length === 0 ? [count] : [count, ['rows', rows]]))
    },
    dump(uuid, format) {
      const leg = open.get(uuid)
      if (!leg) return undefined
      const { bridge } = leg
      const headers = leg.latest.headers().flatMap((header): FreeswitchHeader[] => {
        const [name] = header
        if (name === 'Event-Name') return [['Event-Name', 'CHANNEL_DATA']]
        if (name === 'Core-UUID') return [['Core-UUID', coreUuid()]]
        if (name === 'Caller-Channel-Bridged-Time' && bridge) return [[name, bridge.sinceUs]]
        return name === 'variable_bridge_to' ? [] : [header]
      })
      if (bridge) headers.push(['variable_bridge_to', bridge.uuid])
      return format === 'json' ? toJson(headers) : toPlain(headers)
    },
  }
}

function channelRow(uuid: string, { created, latest }: Leg): Record<string, string> {
  const current = latest.headers()
  const createdUs = Number(findHeader(created, 'Caller-Channel-Created-Time') ?? 0)
  const seconds = Math.floor(createdUs / 1_000_000)
  const createdText = new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')
  const cells: (readonly [string, string])[] = [
    ['uuid', uuid],
    ['direction', findHeader(current, 'Call-Direction') ?? ''],
    ['created', createdText],
    ['created_epoch', String(seconds)],
    ...COLUMNS.map(([column, header]) => [column, findHeader(current, header) ?? ''] as const),
    ['sent_callee_name', ''],
    ['sent_callee_num', ''],
    ...INITIAL_COLUMNS.map(([column, header]) => [column, findHeader(created, header) ?? ''] as const),
  ]
  return Object.fromEntries(cells)
}
