/** The list of an account without webhooks: one field and one button lead to a test event. */

import { useSignal } from '@preact/signals'
import type { RequestPreview } from 'hookswitch/client'
import { accountRequest, optional } from '../api/api.js'
import { API_URL, SETTINGS } from '../api/settings.js'
import { Button } from '../components/button.js'
import { Icon } from '../components/icon.js'
import { Bone } from '../components/panel.js'
import { RequestText } from '../components/request-text.js'
import { useResource } from '../state/resource.js'
import { navigate } from '../state/router.js'
import { canChange, isReadOnly } from '../state/scope.js'
import { t, word } from '../state/translate.js'
import { addressProblem } from '../text/address.js'
import type { IconName } from '../text/looks.js'
import { formatRoute } from '../text/routes.js'
import { wantTest } from './form-state.js'

const EXAMPLE = { name: '-', uri: 'https://your-server.com/calls', hook: 'channel_destroy' }

/** A server that prints what it gets. */
const RECEIVER =
  `node -e "require('http').createServer((q, s) =>` +
  ` q.on('data', (d) => console.log(String(d))).on('end', () => s.end())).listen(3000)"`

export function FirstScreen({ accountId }: { readonly accountId: string }) {
  const example = useResource(
    (signal) =>
      optional(
        accountRequest<RequestPreview>(
          'PUT',
          '/webhooks/preview',
          { accountId, data: { webhook: EXAMPLE } },
          signal,
        ),
      ),
    [accountId],
  )
  const request = example.data.value
  if (!isReadOnly.value && !canChange.value) return <Bone />
  if (isReadOnly.value)
    return (
      <section class="panel none">
        <Icon name="list" />
        <h2>{t('first.noneTitle')}</h2>
        <p>{t('first.noneText')}</p>
      </section>
    )
  return (
    <>
      <section class="panel first" aria-labelledby="first">
        <div>
          <h2 id="first">{t('first.title')}</h2>
          <p class="lead">{t('first.lead')}</p>
          <ol class="steps">
            <li class="now">
              <b>{t('first.step1')}</b>
              <AddressForm accountId={accountId} />
            </li>
            <li>
              <b>{t('first.step2')}</b>
              {t('first.step2Text')}
            </li>
            <li>
              <b>{t('first.step3')}</b>
              {t('first.step3Text')}
            </li>
          </ol>
          <More title={t('first.noServer')} code={RECEIVER} text={t('first.noServerText')} />
        </div>
        {request && (
          <div class="see">
            <p class="label">{t('first.example')}</p>
            <RequestText request={request} label={t('first.example')} />
          </div>
        )}
      </section>
      <div class="gap" />
      <p class="label">{t('first.uses')}</p>
      <div class="cols three">
        <Use accountId={accountId} icon="screen" name="pop" events={['channel_create']} />
        <Use accountId={accountId} icon="bill" name="bill" events={['channel_destroy']} />
        <Use accountId={accountId} icon="text" name="text" events={['missed_call']} />
      </div>
      <div class="legal">
        <More title={t('first.byApi')} code={createCommand(accountId)} />
        {SETTINGS.helpUrl !== undefined && (
          <a href={SETTINGS.helpUrl} rel="noopener" target="_blank">
            {t('first.help')}
          </a>
        )}
      </div>
    </>
  )
}

/** Leads to the form, which sends the test. */
function AddressForm({ accountId }: { readonly accountId: string }) {
  const uri = useSignal('')
  const isWrong = useSignal(false)
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        const typed = uri.peek().trim()
        const problem = addressProblem(typed)
        isWrong.value = problem !== undefined && problem.better === undefined
        if (isWrong.peek()) return
        const address = problem?.better ?? typed
        wantTest(address)
        navigate({ screen: 'new', accountId, query: { uri: address } })
      }}
    >
      <div class="row">
        <label class={isWrong.value ? 'field wrong' : 'field'}>
          <Icon name="link" />
          <span class="hidden">{t('form.uri')}</span>
          <input
            type="url"
            placeholder={EXAMPLE.uri}
            autocapitalize="none"
            autocomplete="off"
            spellcheck={false}
            aria-describedby="first-hint"
            aria-invalid={isWrong.value || undefined}
            value={uri.value}
            onInput={(event) => {
              uri.value = event.currentTarget.value
              isWrong.value = false
            }}
          />
        </label>
        <Button type="submit" kind="primary">
          {t('first.test')}
        </Button>
      </div>
      <p class={isWrong.value ? 'hint is-bad' : 'hint'} id="first-hint">
        {t(isWrong.value ? 'form.checkInvalid' : 'first.hint')}
      </p>
    </form>
  )
}

interface UseProps {
  readonly accountId: string
  readonly icon: IconName
  readonly name: 'pop' | 'bill' | 'text'
  readonly events: readonly string[]
}

/** What others use webhooks for: the form with its events chosen. */
function Use({ accountId, icon, name, events }: UseProps) {
  const title = t(`first.use.${name}`)
  return (
    <a
      class="panel use"
      href={formatRoute({ screen: 'new', accountId, query: { name: title, events: events.join() } })}
    >
      <Icon name={icon} />
      <span>
        <b>{title}</b>
        <br />
        <span class="soft">
          {t(`first.use.${name}Text`)} <em>{events.map((id) => word('event', id)).join(', ')}</em>.
        </span>
      </span>
    </a>
  )
}

interface MoreProps {
  readonly title: string
  readonly code: string
  readonly text?: string
}

function More({ title, code, text }: MoreProps) {
  return (
    <details>
      <summary class="soft">
        <Icon name="right" />
        {title}
      </summary>
      <pre class="code" tabIndex={0} role="region" aria-label={title}>
        {code}
      </pre>
      {text !== undefined && <p class="hint">{text}</p>}
    </details>
  )
}

const createCommand = (accountId: string) => `curl -X PUT ${API_URL}v1/accounts/${accountId}/webhooks \\
  -H "X-Auth-Token: $TOKEN" -H 'Content-Type: application/json' \\
  -d '{"data":{"name":"Calls","uri":"https://crm.example.com/in","hook":"all"}}'`
