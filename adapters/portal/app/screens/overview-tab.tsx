/** What is true of a webhook now: its case, its figures, and plots around the first failure. */
import type { Subject } from '../api/webhook-health.js'
import { Note } from '../components/panel.js'
import { t } from '../state/translate.js'
import { formatRoute } from '../text/routes.js'
import { CasePanel } from './case-panel.js'
import { OverviewPlots } from './overview-plots.js'

export interface OverviewTabProps {
  readonly accountId: string
  readonly webhookId: string
  readonly query: Readonly<Record<string, string>>
  readonly subject: Subject
  /** To be called when something has changed the webhook or its health. */
  readonly onChanged: () => void
}

export function OverviewTab(props: OverviewTabProps) {
  const { accountId, webhookId, query, subject } = props
  const { health } = subject
  return (
    <>
      <CasePanel {...props} />
      {health.state === 'idle' && (
        <>
          <Note icon="idle">
            {t('webhook.idle')}{' '}
            <a href={formatRoute({ screen: 'match', accountId })}>{t('webhook.whyIdle')}</a>
          </Note>
          <div class="gap" />
        </>
      )}
      <OverviewPlots key={webhookId} {...{ accountId, webhookId, query, health }} />
    </>
  )
}
