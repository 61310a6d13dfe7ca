/** Parses and maps the bytes of a switch to channel events, without a connection and without publishing. */

import { accountFromVariable as ofAsterisk } from '../../adapters/telephony/asterisk/account-resolver.js'
import {
  DIAL_PLAN_STEP,
  isRelevantEvent,
  parseAmiEvent,
  VARIABLE_SET,
} from '../../adapters/telephony/asterisk/ami-event.js'
import { createAmiFrameReader } from '../../adapters/telephony/asterisk/ami-frames.js'
import { createAmiMessage, eventNameOf, uniqueIdOf } from '../../adapters/telephony/asterisk/ami-message.js'
import { parseAriEvent } from '../../adapters/telephony/asterisk/ari-event.js'
import { createAsteriskMapping } from '../../adapters/telephony/asterisk/mapping.js'
import { accountFromVariable as ofFreeswitch } from '../../adapters/telephony/freeswitch/account-resolver.js'
import type { CommandChannel } from '../../adapters/telephony/freeswitch/commands.js'
import { peekEventName } from '../../adapters/telephony/freeswitch/event.js'
import { createEventStream } from '../../adapters/telephony/freeswitch/event-stream.js'
import { createFrameReader } from '../../adapters/telephony/freeswitch/frames.js'
import { createFreeswitchMapping } from '../../adapters/telephony/freeswitch/mapping.js'
import { subscribedEvents } from '../../adapters/telephony/freeswitch/subscriptions.js'
import { accountByDomain, kamailioMapper } from '../../adapters/telephony/kamailio/index.js'
import type { EventPipeline } from '../../adapters/telephony/source/event-pipeline.js'
import type { MappedBatch } from '../../adapters/telephony/source/mapped-events.js'

/** Number of channel events. */
export interface Counts {
  events: number
}

/** Creates a parser that takes chunks of a recording and counts the channel events. */
type CreateStream = (counts: Counts) => (chunk: Buffer) => void

const counter = (counts: Counts) => (mapped: MappedBatch) => {
  for (const { events } of mapped.updates) counts.events += events.length
}

const freeswitch: CreateStream = (counts) => {
  const options = { accountOf: ofFreeswitch(), customVariables: [], extraEvents: [], maxOpenLegs: 10_000 }
  const mapping = createFreeswitchMapping({ ...options, endEvent: 'CHANNEL_DESTROY' })
  const pipeline = { push: counter(counts) } as EventPipeline
  // Ignores the recorded replies to the client's commands.
  const commands = { onReply() {} } as unknown as CommandChannel
  const stream = createEventStream({ pipeline, mapping, commands })
  return (chunk) => {
    try {
      stream.receive(chunk)
    } catch (thrown) {
      // The recording ends with a disconnect notice.
      if (!String(thrown).includes('the switch disconnected')) throw thrown
    }
  }
}

/** The messages of a recording with the events that the source subscribes to: the recorded client subscribed to more. */
const onlySubscribed = (bytes: Buffer): Buffer => {
  const names: ReadonlySet<string | undefined> = new Set(subscribedEvents('CHANNEL_DESTROY', [], []))
  const kept: Buffer[] = []
  createFrameReader((_, head, body) => {
    if (names.has(peekEventName(body))) kept.push(Buffer.from(`${head}\n`, 'latin1'), Buffer.from(body))
  }).push(bytes)
  return Buffer.concat(kept)
}

const asterisk = () => createAsteriskMapping({ accountOf: ofAsterisk('ACCOUNT_ID'), maxOpenLegs: 10_000 })

const ami: CreateStream = (counts) => {
  const mapping = asterisk()
  const count = counter(counts)
  const frames = createAmiFrameReader(
    () => {},
    (message) => {
      const name = eventNameOf(message)
      const isStep = name === VARIABLE_SET || name === DIAL_PLAN_STEP
      if (isStep ? !mapping.isUnsettled(uniqueIdOf(message)) : !isRelevantEvent(name)) return
      const event = parseAmiEvent(createAmiMessage(message), 0)
      if (event !== undefined && typeof event !== 'string') count(mapping.map(event))
    },
    () => {},
  )
  return frames.receive
}

const ari: CreateStream = (counts) => {
  const mapping = asterisk()
  const count = counter(counts)
  let rest = ''
  return (chunk) => {
    const lines = (rest + chunk.toString('utf8')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const read = parseAriEvent(line, 0)
      if (!read || !('event' in read)) continue
      const { event } = read
      const isStep = event.kind === 'variable_set' || event.kind === 'dial_plan_step'
      if (!isStep || mapping.isUnsettled(event.channel.id)) count(mapping.map(event))
    }
  }
}

const kamailio: CreateStream = (counts) => {
  const accountOf = accountByDomain({ 'alpha.example': 'alpha', 'beta.example': 'beta' })
  const mapper = kamailioMapper({ accountOf })
  let rest = ''
  return (chunk) => {
    const lines = (rest + chunk.toString('utf8')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      counts.events += mapper.map(line).events.length
    }
  }
}

/** What a measurement reads. */
type Stream = readonly [
  /** The recording in `examples/`. */
  recording: string,
  /** Matches the start of each event. */
  eventStart: RegExp,
  createStream: CreateStream,
  /** The part of the recording that is read. Default: all of it. */
  select?: (bytes: Buffer) => Buffer,
]

const FREESWITCH_JSON = 'switches/recordings/freeswitch-esl-json.txt.gz'
const FREESWITCH_PLAIN = 'switches/recordings/freeswitch-esl-plain.txt.gz'

/** By name. */
export const STREAMS: Readonly<Record<string, Stream>> = {
  'FreeSWITCH, JSON': [FREESWITCH_JSON, /text\/event-json/g, freeswitch],
  'FreeSWITCH, plain': [FREESWITCH_PLAIN, /text\/event-plain/g, freeswitch],
  'FreeSWITCH, JSON, subscribed': [FREESWITCH_JSON, /text\/event-json/g, freeswitch, onlySubscribed],
  'FreeSWITCH, plain, subscribed': [FREESWITCH_PLAIN, /text\/event-plain/g, freeswitch, onlySubscribed],
  'Asterisk, AMI': ['switches/recordings/asterisk-ami.txt.gz', /^Event: /gm, ami],
  'Asterisk, ARI': ['switches/recordings/asterisk-ari.ndjson.gz', /\n/g, ari],
  Kamailio: ['demo/kamailio-dialogs.ndjson', /\n/g, kamailio],
}
