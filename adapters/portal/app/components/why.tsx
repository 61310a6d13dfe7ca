/** What became of the events of calls: what was accepted, who got it, and why others did not. */
import type { Why } from 'hookswitch/client'
import { kindName } from '../state/kinds.js'
import { t, word } from '../state/translate.js'
import { formatRoute } from '../text/routes.js'
import { explanationText } from './explanation.js'
import { Line } from './hostile-text.js'
import { Panel } from './panel.js'
import { Clock } from './time.js'

type Call = Why['calls'][number]
type Event = Call['events'][number]

/** The calls that were found, newest first; nothing where there are none. */
export function WhyCalls({ report, atMs }: { readonly report: Why; readonly atMs: number }) {
  return (
    <>
      {report.calls.map((call) => (
        <WhyCall key={`${call.account_id}/${call.call_id}`} {...{ call, atMs }} />
      ))}
      {(report.other_calls.length > 0 || report.truncated) && <p class="soft">{t('why.more')}</p>}
    </>
  )
}

function WhyCall({ call, atMs }: { readonly call: Call; readonly atMs: number }) {
  const { account_id: accountId, account_name: account, call_id: id } = call
  return (
    <>
      <div class="gap" />
      <Panel
        title={
          <a href={formatRoute({ screen: 'call', accountId, id })}>
            <Line text={id} />
          </a>
        }
        aside={account}
      >
        <table class="grid">
          <thead>
            <tr>
              <th scope="col">{t('column.time')}</th>
              <th scope="col">{t('column.what')}</th>
              <th scope="col">{t('match.why')}</th>
            </tr>
          </thead>
          <tbody>
            {call.events.map((event) => (
              <tr key={event.id}>
                <td class="nowrap">
                  <Clock at={event.accepted_at} />
                  {event.source !== undefined && <Line class="sub" text={event.source} />}
                </td>
                <td class="how">{kindName(event.hook)}</td>
                <td class="full">
                  <Became {...{ event, atMs }} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Panel>
    </>
  )
}

interface BecameProps {
  readonly event: Event
  readonly atMs: number
}

function Became({ event: { wanted, deliveries, unmatched }, atMs }: BecameProps) {
  return (
    <ul class="stack small">
      {!wanted && (
        <li>
          <b>{t('why.unwanted')}</b>
        </li>
      )}
      {deliveries.map(({ id, account_id, hook_id, hook_name, explanation, attempts }) => {
        const { lead, rest } = explanationText(explanation!, { atMs, attempts })
        return (
          <li key={id}>
            <a href={formatRoute({ screen: 'delivery', accountId: account_id, id })}>
              <Line text={hook_name ?? hook_id} />
            </a>
            : {lead} {rest}
          </li>
        )
      })}
      {unmatched.map(({ why, explain, count, webhooks }) => (
        <li key={why} class="soft">
          <Line text={webhooks.map(({ name }) => name).join(', ')} />
          {count > webhooks.length && ` +${count - webhooks.length}`}: {word('match', why, explain)}
        </li>
      ))}
    </ul>
  )
}
