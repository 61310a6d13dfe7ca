/** Switch events: the common format of AMI and ARI messages, which the mapping takes. */

/** The channel states that the mapping uses: `AST_STATE_*` of Asterisk's `channelstate.h`. */
export const DOWN = 0
export const RING = 4
export const RINGING = 5
export const UP = 6
/** The switch refused the call (`Busy()`, `Congestion()`). */
export const BUSY = 7

/** A channel at the time of a message. Empty values and `<unknown>` are absent. */
export interface Channel {
  /** `Uniqueid` in AMI, `channel.id` in ARI. */
  readonly id: string
  /** The name: `PJSIP/1001-0000002a`. */
  readonly name: string
  readonly state: number
  readonly callerNumber?: string | undefined
  readonly callerName?: string | undefined
  readonly connectedNumber?: string | undefined
  readonly connectedName?: string | undefined
  readonly accountCode?: string | undefined
  readonly context?: string | undefined
  readonly extension?: string | undefined
  /** The `Linkedid`; AMI only. */
  readonly linkedId?: string | undefined
  /** The SIP Call-ID; ARI only, and not in a channel's first event. */
  readonly protocolId?: string | undefined
  /** When the channel was created, Unix milliseconds; ARI only. */
  readonly createdMs?: number | undefined
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
}

interface At {
  /** When it happened, Unix milliseconds, with a fraction where the switch sends one. */
  readonly atMs: number
}

/** One event of the switch. */
export type SwitchEvent =
  /** A channel was created or changed: only its state and its values matter. */
  | (At & { readonly kind: 'created' | 'updated'; readonly channel: Channel })
  /** Progress of a dialled channel; without a caller where the switch itself dials (Originate). */
  | (At & {
      readonly kind: 'dialled'
      readonly caller?: Channel
      readonly called: Channel
      /** '': the dial begins. `RINGING`, `PROGRESS`, … : in progress. `ANSWER`, `BUSY`, `NOANSWER`, … : the result. */
      readonly status: string
    })
  | (At & { readonly kind: 'entered' | 'left'; readonly channel: Channel; readonly bridge: Bridge })
  | (At & { readonly kind: 'held' | 'unheld'; readonly channel: Channel })
  /** The phone hangs up or refuses the call. */
  | (At & { readonly kind: 'hangup_requested'; readonly channel: Channel; readonly techCause?: number })
  | (At & {
      readonly kind: 'hung_up'
      readonly channel: Channel
      /** The Q.850 cause; 0: none. */
      readonly cause: number
      /** The SIP status code. */
      readonly techCause?: number
    })

/** An item of the list of open channels. */
export interface ListedChannel {
  readonly channel: Channel
  readonly bridge?: Bridge
}
