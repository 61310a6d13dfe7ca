/**
 * What happens to channels, as AMI and ARI both tell it: the one vocabulary between the two protocols and the mapping.
 */

/** `AST_STATE_*` of Asterisk's `channelstate.h`, as far as they matter. */
export const DOWN = 0
export const RING = 4
export const RINGING = 5
export const UP = 6
/** The switch has refused it (`Busy()`, `Congestion()`). */
export const BUSY = 7

/** A channel as a message shows it at its moment. Empty values and `<unknown>` are absent. */
export interface Channel {
  /** `Uniqueid`, which is `channel.id` of ARI. */
  readonly id: string
  /** `PJSIP/1001-0000002a` */
  readonly name: string
  readonly state: number
  readonly callerNumber?: string | undefined
  readonly callerName?: string | undefined
  readonly connectedNumber?: string | undefined
  readonly connectedName?: string | undefined
  readonly accountCode?: string | undefined
  readonly context?: string | undefined
  readonly extension?: string | undefined
  /** AMI alone. */
  readonly linkedId?: string | undefined
  /** The SIP Call-ID; ARI alone, and not in a channel's first event. */
  readonly protocolId?: string | undefined
  /** When it began, Unix milliseconds; ARI alone. */
  readonly createdMs?: number | undefined
  /** The application that it runs: `Dial`, `AppDial`; not in events of AMI. */
  readonly application?: string | undefined
  /** A channel variable; only those that Asterisk is told to show (`channelvars`). */
  readonly variable: (name: string) => string | undefined
}

/** A bridge: what joins channels. */
export interface Bridge {
  readonly id: string
  /** `talk`: two hear each other, more are a conference. `conference`: made to be one. `hold`: its members hear music. */
  readonly kind: 'talk' | 'conference' | 'hold'
  readonly name?: string
}

interface At {
  /** When, Unix milliseconds with what fraction there is. */
  readonly atMs: number
}

/** One message. */
export type Happening =
  /** A channel begins, or is seen: only its state and its values matter. */
  | (At & { readonly kind: 'began' | 'seen'; readonly channel: Channel })
  /** A channel is dialled; nobody dials it where the switch does so itself (Originate). */
  | (At & {
      readonly kind: 'dialled'
      readonly caller?: Channel
      readonly called: Channel
      /** '': it begins. `RINGING`, `PROGRESS`, … : it goes on. `ANSWER`, `BUSY`, `NOANSWER`, … : it is over. */
      readonly status: string
    })
  | (At & { readonly kind: 'entered' | 'left'; readonly channel: Channel; readonly bridge: Bridge })
  | (At & { readonly kind: 'held' | 'unheld'; readonly channel: Channel })
  /** The phone wants to end it, or refuses it. */
  | (At & { readonly kind: 'hangup_asked'; readonly channel: Channel; readonly techCause?: number })
  | (At & {
      readonly kind: 'hung_up'
      readonly channel: Channel
      /** Q.850; 0: none. */
      readonly cause: number
      /** The SIP status code. */
      readonly techCause?: number
    })

/** A channel of a list of all open ones. */
export interface Listed {
  readonly channel: Channel
  readonly bridge?: Bridge
}
