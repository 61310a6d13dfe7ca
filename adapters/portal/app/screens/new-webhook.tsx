/** A new webhook: saved and sending at once, or saved disabled and tested first. */
import type { Webhook } from 'hookswitch/client'
import { accountRequest } from '../api/api.js'
import { Page } from '../components/page.js'
import { notify } from '../state/announce.js'
import { navigate } from '../state/router.js'
import { t } from '../state/translate.js'
import type { SettingsInput } from '../text/webhook-form.js'
import { WebhookForm } from './webhook-form.js'

export function NewWebhookScreen({ accountId }: { readonly accountId: string }) {
  const create = (data: SettingsInput) => accountRequest<Webhook>('PUT', '/webhooks', { accountId, data })
  return (
    <Page title={t('form.newTitle')} name="new">
      <WebhookForm
        accountId={accountId}
        submitLabel={t('form.create')}
        onSubmit={async (settings) => {
          const { id } = await create(settings)
          notify(t('form.created'))
          navigate({ screen: 'webhook', accountId, id, tab: 'secret' })
        }}
        extra={{
          label: t('form.createAndTest'),
          async run(settings) {
            const { id } = await create({ ...settings, enabled: false })
            const { delivery_id } = await accountRequest<{ readonly delivery_id: string }>(
              'PUT',
              '/webhooks/{webhook_id}/test',
              { accountId, webhookId: id, data: {} },
            )
            notify(t('form.testing'))
            navigate({ screen: 'delivery', accountId, id: delivery_id })
          },
        }}
      />
    </Page>
  )
}
