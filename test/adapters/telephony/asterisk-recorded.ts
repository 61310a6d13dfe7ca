import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** The truth about one phone's part in a recorded call, from the message logs of the phones. */
export interface RecordedLeg {
  /** The SIP Call-ID of the phone's dialog. */
  callId: string
  phone: string
  role: string
  account: string
  answered: boolean
  code: number | null
  outcome: string
  endedBy: 'this phone' | 'the other leg' | 'the switch'
  dialled?: string
  callerName?: string
  callerNumber?: string
  inviteMs: number
  ringingMs?: number
  answerMs?: number
  endMs?: number
  talkMs?: number
  holds?: { holdMs: number; resumeMs: number | null }[]
  matchBy: 'SIPCALLID' | 'phone'
}

/** The truth about one recorded call. */
export interface RecordedCall {
  call: string
  scenario: string
  legs: RecordedLeg[]
  bridges: [string, string][]
}

const recording = (name: string) =>
  readFileSync(new URL(`../../../examples/switches/recordings/${name}`, import.meta.url))

/** Every byte of a recorded AMI connection, from the banner on. */
export const amiBytes: Buffer = gunzipSync(recording('asterisk-ami.txt.gz'))

/** The text frames of an ARI WebSocket: the same calls. */
export const ariFrames: readonly string[] = gunzipSync(recording('asterisk-ari.ndjson.gz'))
  .toString()
  .trimEnd()
  .split('\n')

/** Nobody was at 2009, so no log has a Call-ID; that of Asterisk's INVITE is in its own events. */
const UNHEARD = '478e3cc5-0d5f-4d3e-ab7a-e4e4a52b6409'

/** The truth about the 48 calls. */
export const recordedCalls: readonly RecordedCall[] = JSON.parse(
  recording('asterisk-expected.json').toString(),
  (_, value) => (value?.phone === '2009' ? { ...value, callId: UNHEARD } : value),
).calls
