/** What was found; a single result is opened at once. */
import { useSignal } from '@preact/signals'
import type { Why } from 'hookswitch/client'
import { useEffect, useRef } from 'preact/hooks'
import { type Found, findAll, findIn, findWhy, routeOf } from '../api/search.js'
import { Button } from '../components/button.js'
import { Icon } from '../components/icon.js'
import { Loaded } from '../components/load-state.js'
import { Page } from '../components/page.js'
import { None } from '../components/panel.js'
import { WhyCalls } from '../components/why.js'
import { useResource } from '../state/resource.js'
import { changeQuery, replaceRoute } from '../state/router.js'
import { accountName, isOperator } from '../state/scope.js'
import { t, word } from '../state/translate.js'
import { formatRoute } from '../text/routes.js'

interface SearchScreenProps {
  readonly accountId: string
  readonly query: Readonly<Record<string, string>>
}

export function SearchScreen({ accountId, query }: SearchScreenProps) {
  const { q = '' } = query
  const isAmongAll = isOperator.value
  const found = useResource(
    async (signal) => {
      if (q === '') return undefined
      return isAmongAll ? findAll(q, signal) : findIn(accountId, q, signal)
    },
    [accountId, q, isAmongAll],
  )
  const why = useResource(
    async (signal) => (q === '' ? undefined : findWhy(isAmongAll ? undefined : accountId, q, signal)),
    [accountId, q, isAmongAll],
  )
  const rows = found.data.value
  const report = why.data.value?.report
  // The screen of a call does not say why nobody wanted an event.
  const isAnswered = why.error.value !== undefined || (report !== undefined && !hasUnwanted(report))
  const only = rows?.length === 1 && isAnswered ? routeOf(rows[0]!) : undefined
  useEffect(() => {
    if (only) replaceRoute({ ...only, query: {} })
  }, [only && formatRoute(only)])
  return (
    <Page
      title={t('search.title')}
      name="search"
      lead={isAmongAll ? t('search.leadAll') : t('search.lead', { account: accountName.value })}
    >
      <Form text={q} />
      {q !== '' && (
        <Loaded resource={found}>
          {(list) =>
            list === undefined || only || (list.length === 0 && report?.calls.length !== 0) ? null : (
              <Results text={q} rows={list} isAmongAll={isAmongAll} />
            )
          }
        </Loaded>
      )}
      {q !== '' && !only && (
        <Loaded resource={why}>{(answer) => (answer ? <WhyCalls {...answer} /> : null)}</Loaded>
      )}
    </Page>
  )
}

const hasUnwanted = ({ calls }: Why) => calls.some(({ events }) => events.some(({ wanted }) => !wanted))

function Form({ text }: { readonly text: string }) {
  const typed = useSignal(text)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    typed.value = text
    if (text === '') input.current!.focus()
  }, [text])
  return (
    <form
      class="bar"
      onSubmit={(event) => {
        event.preventDefault()
        changeQuery({ q: typed.value.trim() })
      }}
    >
      <div class="field find far">
        <Icon name="find" />
        <input
          ref={input}
          type="search"
          aria-label={t('search.label')}
          placeholder={t('search.placeholder')}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          maxLength={255}
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value
          }}
        />
      </div>
      <Button type="submit">{t('search.submit')}</Button>
    </form>
  )
}

interface ResultsProps {
  readonly text: string
  readonly rows: readonly Found[]
  readonly isAmongAll: boolean
}

function Results({ text, rows, isAmongAll }: ResultsProps) {
  if (rows.length === 0) {
    return (
      <div class="panel">
        <None icon="find" title={t('search.nothing', { text })}>
          {t(isAmongAll ? 'search.hintAll' : 'search.hint')}
        </None>
      </div>
    )
  }
  return (
    <div class="panel">
      <table class="grid">
        <thead>
          <tr>
            <th scope="col">{t('column.what')}</th>
            <th scope="col">{t('column.name')}</th>
            <th scope="col">{t('column.account')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const to = routeOf(row)
            // The label of an account is its realm.
            const isAccount = row.type === 'account'
            const name = isAccount ? row.account_name : (row.label ?? row.id)
            return (
              <tr key={`${row.type}/${row.account_id}/${row.id}`}>
                <td class="how">{word('found', row.type)}</td>
                <td class="lead">
                  {to ? (
                    <a class="open" href={formatRoute(to)}>
                      {name}
                    </a>
                  ) : (
                    name
                  )}
                  {name !== row.id && <span class="sub mono">{isAccount ? row.label : row.id}</span>}
                </td>
                <td class="full">{isAccount ? '' : row.account_name}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
