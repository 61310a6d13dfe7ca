/** Switch events: the common format of AMI and ARI messages, which the mapping takes. */
import type { PendingEvent } from '../source/mapped-events.js'
import type { CallDetails, OptionalHook } from '../source/optional-hooks.js'

/** The channel states that the mapping uses: `AST_STATE_*` of Asterisk's `channelstate.h`. */
export const DOWN = 0
/** Down, but the line is taken: DAHDI begins so, whoever calls. */
export const RESERVED = 1
/** The phone is off hook; its number is not dialled yet. */
export const OFF_HOOK = 2
/** The switch dials on the line. */
export const DIALING = 3
export const RING = 4
export const RINGING = 5
export const UP = 6
/** The switch refused the call (`Busy()`, `Congestion()`). */
export const BUSY = 7
export const DIALING_OFF_HOOK = 8
/** A call comes in on an analog line, whose caller id follows. */
export const PRE_RING = 9

/** A channel at the time of a message. Empty values and `<unknown>` are absent. */
export interface Channel {
  /** `Uniqueid` in AMI, `channel.id` in ARI. */
  readonly id: string
  /** The name: `PJSIP/1001-0000002a`. */
  readonly name: string
  readonly state: number
  readonly callerNumber?: string | undefined
  readonly callerName?: string | undefined
  /** The presentation of the caller id (ITU-T Q.931, octet 3a); only where the message is about it. */
  readonly callerPresentation?: number | undefined
  readonly connectedNumber?: string | undefined
  readonly connectedName?: string | undefined
  readonly accountCode?: string | undefined
  readonly context?: string | undefined
  readonly extension?: string | undefined
  /** The `Linkedid`; over ARI only if `channelvars` lists `CHANNEL(linkedid)`. */
  readonly linkedId?: string | undefined
  /** The SIP Call-ID; ARI only, and not in a channel's first event. */
  readonly protocolId?: string | undefined
  /** When the channel was created, Unix milliseconds; ARI only. */
  readonly createdMs?: number | undefined
  /** How long the channel has existed, whole seconds; only in the list of AMI. */
  readonly ageSeconds?: number | undefined
  /** The running application: `Dial`, `AppDial`; not in AMI events. */
  readonly application?: string | undefined
  /** Returns a channel variable, if `channelvars` lists it. */
  readonly variable: (name: string) => string | undefined
}

/** A bridge, which connects channels. */
export interface Bridge {
  readonly id: string
  /** `talk`: two members hear each other, more are a conference. `conference`: created as one. `hold`: members hear music. */
  readonly kind: 'talk' | 'conference' | 'hold'
  readonly name?: string
  /** Whether `ConfBridge()` created it; ARI only: AMI sends other messages when somebody joins or leaves. */
  readonly isConfBridge?: true
}

/** One event of an optional hook. */
export interface CallReport {
  readonly hook: OptionalHook
  readonly channel: Channel
  /** Its fields; ids of other channels may be those of halves of Local channels. */
  readonly details: CallDetails
  /** The bridge of a conference. */
  readonly bridgeId?: string | undefined
}

/** An event of an optional hook that belongs to no channel. */
export interface StandaloneReport {
  readonly hook: OptionalHook
  /** What the event is ordered by, as others are by their leg: the phone, or the id of a message. */
  readonly id: string
  /** The phone: `PJSIP/1001`, `Local/1003@agents/n`. */
  readonly device: string
  /** Distinguishes it from others of the same id, hook and time. */
  readonly key: string
  readonly fields: {
    readonly [Key in
      | 'agentId'
      | 'agentNumber'
      | 'body'
      | 'contact'
      | 'direction'
      | 'from'
      | 'fromRealm'
      | 'queueId'
      | 'reason'
      | 'to'
      | 'toRealm'
      | 'username']?: PendingEvent[Key]
  }
}

interface At {
  /** When it happened, Unix milliseconds, with a fraction where the switch sends one. */
  readonly atMs: number
}

/** One event of the switch. */
export type SwitchEvent =
  /** A channel was created or changed: only its state and its values matter. */
  | (At & { readonly kind: 'created' | 'updated'; readonly channel: Channel })
  /** A variable of a channel was set, or its dial plan runs: matters only while the leg is not settled. */
  | (At & { readonly kind: 'variable_set' | 'dial_plan_step'; readonly channel: Channel })
  /** No destination of a `Dial()` was called: there is no such endpoint, or it is not registered. */
  | (At & { readonly kind: 'not_dialled'; readonly channel: Channel })
  /** Progress of a dialled channel; without a caller where the switch itself dials (Originate). */
  | (At & {
      readonly kind: 'dialled'
      readonly caller?: Channel
      readonly called: Channel
      /** '': the dial begins. `RINGING`, `PROGRESS`, … : in progress. `ANSWER`, `BUSY`, `NOANSWER`, … : the result. */
      readonly status: string
      /** What the begin of a dial has dialled, without the technology: `2001`, `0044123@trunk`, `trunk/sip:0044123@host`. */
      readonly dialString?: string
      /** Whether the called phone redirected the call to another destination. */
      readonly isForwarded?: boolean
    })
  | (At & { readonly kind: 'entered' | 'left'; readonly channel: Channel; readonly bridge: Bridge })
  | (At & { readonly kind: 'held' | 'unheld'; readonly channel: Channel })
  /** The phone hangs up or refuses the call. */
  | (At & {
      readonly kind: 'hangup_requested'
      readonly channel: Channel
      /** The Q.850 cause. */
      readonly cause?: number
      /** The SIP status code. */
      readonly techCause?: number
    })
  | (At & {
      readonly kind: 'hung_up'
      readonly channel: Channel
      /** The Q.850 cause; 0: none. */
      readonly cause: number
      /** The SIP status code. */
      readonly techCause?: number
    })
  /** What the switch reports of the call beyond its channels; `channel` is that of the first report. */
  | (At & { readonly kind: 'reported'; readonly channel: Channel; readonly reports: readonly CallReport[] })
  /** A recording of a channel begins or ends. */
  | (At & {
      readonly kind: 'recorded'
      readonly channelId: string
      readonly isBegin: boolean
      /** Its file. Default at the begin: the one that was noted, at the end: that of the oldest recording. */
      readonly path?: string | undefined
      readonly reason?: 'stopped' | 'failed' | undefined
    })
  /** What the switch reports of a phone, an agent or a message, without a channel. */
  | (At & { readonly kind: 'standalone'; readonly report: StandaloneReport })
  /** What later events of the channel need. */
  | (At & {
      readonly kind: 'noted'
      readonly channel: Channel
      readonly notes: {
        /** The file of the recording that begins next. */
        readonly recordingPath?: string
        /** The mailbox whose messages changed. */
        readonly mailbox?: string
        /** How long the caller had waited in the queue that it left without an agent. */
        readonly abandonedAfterSeconds?: number
        /** QUEUESTATUS, which `Queue()` sets when the call goes on in the dial plan. */
        readonly queueStatus?: string
        /** The parking slot whose time is over; the call goes on in the dial plan. */
        readonly timedOutSlot?: string
      }
    })
  /** The caller has left a voicemail message. */
  | (At & {
      readonly kind: 'message_left'
      readonly channel: Channel
      /** `1001`, `1001@context`. Default: the mailbox that was noted. */
      readonly mailbox?: string
    })

/** An item of the list of open channels. */
export interface ListedChannel {
  readonly channel: Channel
  readonly bridge?: Bridge
  /** Added by the queries that follow the list. */
  details?: ChannelDetails
}

/** What the switch knows about an open channel beyond the list. What it does not know is absent. */
export interface ChannelDetails {
  /** When the channel began and was answered according to its CDR, Unix milliseconds. */
  readonly cdrStartMs?: number | undefined
  readonly cdrAnswerMs?: number | undefined
  /** Whether the other side of its bridge holds: the channel hears music. */
  readonly isPutOnHold?: boolean | undefined
}
