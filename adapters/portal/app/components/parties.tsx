/** Who called whom. */
import { printableLine } from 'hookswitch/adapter'
import { type Parties as CallParties, partyName } from '../text/parties.js'
import { Line } from './hostile-text.js'
import { Icon } from './icon.js'

interface PartiesProps {
  /** Absent: unknown, or no longer kept. */
  readonly call: CallParties | undefined
  /** Beside the calling party. */
  readonly callerName?: string | undefined
  /** Shown where no party is known. */
  readonly callId?: string | undefined
}

export function Parties({ call, callerName, callId }: PartiesProps) {
  const { from, to } = call ?? {}
  if (from === undefined && to === undefined) {
    if (callId === undefined) return <span class="faint">–</span>
    return <bdi class="mono soft cut">{printableLine(callId)}</bdi>
  }
  return (
    <span class="party">
      <span>
        <Party party={from} />
        {callerName !== undefined && (
          <>
            , <Line text={callerName} />
          </>
        )}
      </span>
      <Icon name="send" />
      <span class="hidden"> → </span>
      <Party party={to} />
    </span>
  )
}

function Party({ party }: { readonly party: string | undefined }) {
  if (party === undefined) return <span>?</span>
  const name = partyName(party)
  return <bdi title={name === party ? undefined : party}>{printableLine(name)}</bdi>
}
