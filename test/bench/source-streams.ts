/** The way from the bytes of a switch to channel events, without a connection and without publishing. */
import { amiFrames } from '../../adapters/telephony/asterisk/ami-frames.js'
import { amiHappening, isRead } from '../../adapters/telephony/asterisk/ami-happening.js'
import { amiMessage, eventOf } from '../../adapters/telephony/asterisk/ami-message.js'
import { ariEvent, mayMatter } from '../../adapters/telephony/asterisk/ari-event.js'
import { accountFromVariable as ofAsterisk } from '../../adapters/telephony/asterisk/facts.js'
import { mapping as asteriskMapping } from '../../adapters/telephony/asterisk/mapping.js'
import type { Commands } from '../../adapters/telephony/freeswitch/commands.js'
import { eventStream } from '../../adapters/telephony/freeswitch/event-stream.js'
import { accountFromVariable as ofFreeswitch } from '../../adapters/telephony/freeswitch/facts.js'
import { freeswitchMapping } from '../../adapters/telephony/freeswitch/mapping.js'
import { accountByDomain, kamailioMapper } from '../../adapters/telephony/kamailio/index.js'
import type { Feed } from '../../adapters/telephony/source/feed.js'
import type { Mapped } from '../../adapters/telephony/source/leg-news.js'

/** Counts what comes out. */
export interface Counts {
  drafts: number
}

type Stream = (counts: Counts) => (chunk: Buffer) => void

const taking = (counts: Counts) => (mapped: Mapped) => {
  for (const { drafts } of mapped.news) counts.drafts += drafts.length
}

const freeswitch: Stream = (counts) => {
  const options = { accountOf: ofFreeswitch(), customVariables: [], extraEvents: [], maxOpenLegs: 10_000 }
  const mapping = freeswitchMapping({ ...options, endsWith: 'CHANNEL_DESTROY' })
  const feed = { take: taking(counts) } as Feed
  // The recording has the answers to what the client asked.
  const commands = { answered() {} } as unknown as Commands
  const stream = eventStream({ feed, mapping, commands })
  return (chunk) => {
    try {
      stream.receive(chunk)
    } catch (thrown) {
      // The recording's last words.
      if (!String(thrown).includes('said goodbye')) throw thrown
    }
  }
}

const asterisk = () => {
  return asteriskMapping({ accountOf: ofAsterisk('ACCOUNT_ID'), maxOpenLegs: 10_000 })
}

const ami: Stream = (counts) => {
  const mapping = asterisk()
  const take = taking(counts)
  const frames = amiFrames(
    () => {},
    (message) => {
      if (!isRead(eventOf(message))) return
      const happening = amiHappening(amiMessage(message), 0)
      if (happening !== undefined && typeof happening !== 'string') take(mapping.map(happening))
    },
  )
  return frames.receive
}

const ari: Stream = (counts) => {
  const mapping = asterisk()
  const take = taking(counts)
  let rest = ''
  return (chunk) => {
    const lines = (rest + chunk.toString('utf8')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (!mayMatter(line)) continue
      const read = ariEvent(line, 0)
      if (read && 'happening' in read) take(mapping.map(read.happening))
    }
  }
}

const kamailio: Stream = (counts) => {
  const accountOf = accountByDomain({ 'alpha.example': 'alpha', 'beta.example': 'beta' })
  const mapper = kamailioMapper({ accountOf })
  let rest = ''
  return (chunk) => {
    const lines = (rest + chunk.toString('utf8')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      counts.drafts += mapper.map(line).events.length
    }
  }
}

/** By name: the recording below `examples`, what begins one of its events, and what reads it. */
export const STREAMS: Readonly<Record<string, readonly [string, RegExp, Stream]>> = {
  'FreeSWITCH, JSON': ['switches/recordings/freeswitch-esl-json.txt.gz', /text\/event-json/g, freeswitch],
  'FreeSWITCH, plain': ['switches/recordings/freeswitch-esl-plain.txt.gz', /text\/event-plain/g, freeswitch],
  'Asterisk, AMI': ['switches/recordings/asterisk-ami.txt.gz', /^Event: /gm, ami],
  'Asterisk, ARI': ['switches/recordings/asterisk-ari.ndjson.gz', /\n/g, ari],
  Kamailio: ['demo/kamailio-dialogs.ndjson', /\n/g, kamailio],
}
