var e=Object.defineProperty,t=(t,n)=>{let r={};for(var i in t)e(r,i,{get:t[i],enumerable:!0});return n||e(r,Symbol.toStringTag,{value:`Module`}),r},n=[`introduction`,`plan`,`run`,`compare`],r=new Map,i=null;function a(){let[e,t=``]=location.hash.replace(/^#/,``).split(`?`);return{view:n.find(t=>t===e)??null,parameters:new URLSearchParams(t)}}function o(e,t){i=e;let n=t.size?t:r.get(e)??t;return r.set(e,n),c(e,n,!1),n}function s(e,t,n=!1){let a=new URLSearchParams(r.get(e));for(let[e,n]of Object.entries(t))n===null?a.delete(e):a.set(e,n);r.set(e,a),e===i&&c(e,a,n)}function c(e,t,n){let r=t.toString().replaceAll(`%2F`,`/`).replaceAll(`%2C`,`,`).replaceAll(`%3D`,`=`).replaceAll(`%3A`,`:`),i=`#${e}${r?`?${r}`:``}`;i!==location.hash&&(n?history.pushState(null,``,i):history.replaceState(null,``,i))}var l=class extends Error{faults;status;constructor(e,t){super(e.map(e=>`${e.field}: ${e.found}, ${e.allowed}`).join(`
`)),this.faults=e,this.status=t}};async function u(e,t={}){let n;try{n=await fetch(e,t)}catch(e){throw e instanceof DOMException&&e.name===`AbortError`?e:new l([{field:`studio`,found:`does not answer`,allowed:`start it again with scdn studio`}],0)}if(n.ok)return n.json();throw new l(await d(n),n.status)}async function d(e){try{return(await e.json()).faults}catch{return[{field:`studio`,found:`answered ${e.status}`,allowed:`see the terminal in which it runs`}]}}function f(e,t,n){return u(e,{method:`POST`,headers:{"content-type":`application/json`},body:typeof t==`string`?t:JSON.stringify(t),signal:n})}var p=e=>{let t=new URLSearchParams;for(let[n,r]of Object.entries(e))for(let e of Array.isArray(r)?r:[r])t.append(n,String(e));return t.toString()},m={about:()=>u(`/api/about`),examples:()=>u(`/api/examples`),plan:(e,t,n,r,i)=>f(`/api/plan?${p({solver:t,gap:n,time_limit_s:r})}`,e,i),surface:(e,t,n)=>f(`/api/surface?${p({altitude_m:t,points:n})}`,e),reach:e=>f(`/api/reach`,e),leastChanges:(e,[t,n,r])=>f(`/api/least-changes?${p({x_m:t,y_m:n,z_m:r})}`,e),open:(e,t,n=0)=>f(`/api/open`,{name:e,text:t,round:n}),devices:(e,t,n)=>f(`/api/devices`,{name:e,text:t,request:n}),scenario:(e,t,n)=>f(`/api/scenario`,{request:e,scenario:t,name:n}),runs:()=>u(`/api/runs`),start:e=>f(`/api/runs`,e),jobAction:(e,t)=>f(`/api/jobs`,{job:e,action:t}),deleteRun:e=>u(`/api/runs?${p({run:e})}`,{method:`DELETE`}),saveNote:(e,t)=>f(`/api/notes`,{run:e,note:t}),settingsDiff:(e,t)=>u(`/api/settings-diff?${p({run:e,other:t})}`),study:(e,t,n)=>u(`/api/study?${p(n?{run:e,target:t,reference:n}:{run:e,target:t})}`),studyFile:(e,t)=>`/api/study.${e}?${p(t)}`,openEvents:e=>new EventSource(`/api/events?${p({run:e})}`),openPoints:e=>new EventSource(`/api/points?${p({study:e})}`)};function h(e,t={},...n){let r=document.createElement(e);for(let[e,n]of Object.entries(t))e.startsWith(`on`)?r.addEventListener(e.slice(2),n):typeof n==`boolean`?r.toggleAttribute(e,n):n!=null&&r.setAttribute(e,String(n));return r.append(...n.filter(e=>e||e===``)),r}function g(e,...t){e.replaceChildren(...t.filter(Boolean))}function _(e,t){e.textContent!==t&&(e.textContent=t)}var v=`http://www.w3.org/2000/svg`;function y(e,t={},...n){let r=document.createElementNS(v,e);for(let[e,n]of Object.entries(t))r.setAttribute(e,String(n));return r.append(...n),r}var b={play:`M4 2.5v11l9-5.5z`,pause:`M4 2.5h3v11H4zM9 2.5h3v11H9z`,stop:`M3.5 3.5h9v9h-9z`,plus:`M8 3v10M3 8h10`,cross:`M4 4l8 8M12 4l-8 8`,moon:`M13 9.5A5.5 5.5 0 1 1 6.5 3 4.5 4.5 0 0 0 13 9.5z`,sun:`M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.4 1.4M11.6 11.6L13 13M13 3l-1.4 1.4M4.4 11.6L3 13`,down:`M4 6l4 4 4-4`,open:`M2 12.5V4h4l1.5 1.5H14v7z`,save:`M8 2v8M4.5 7L8 10.5 11.5 7M3 13.5h10`,copy:`M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3`,home:`M2.5 8L8 3l5.5 5M4 7v6h8V7`,updown:`M8 2v12M5 5l3-3 3 3M5 11l3 3 3-3`,undo:`M6 3L3 6l3 3M3 6h6.5a3.5 3.5 0 0 1 0 7H6`,redo:`M10 3l3 3-3 3M13 6H6.5a3.5 3.5 0 0 0 0 7H10`,again:`M13 8a5 5 0 1 1-1.5-3.5M13 2v3h-3`};function x(e){return y(`svg`,{viewBox:`0 0 16 16`,class:[`play`,`pause`,`stop`,`moon`].includes(e)?`icon filled`:`icon`,"aria-hidden":`true`},y(`path`,{d:b[e]??``}))}function S(e,t,n={}){let{icon:r,quiet:i,...a}=n,o=i?null:h(`span`,{},e);return h(`button`,{type:`button`,title:e,"aria-label":e,onclick:t,...a},r?x(r):null,o)}function C(e,t=`note`){let n=h(`div`,{class:`toast ${t}`},e);document.getElementById(`toasts`)?.append(n),setTimeout(()=>n.remove(),t===`fault`?9e3:3500)}function w(e,t,n){let r=h(`a`,{href:URL.createObjectURL(new Blob([t],{type:n})),download:e});r.click(),setTimeout(()=>URL.revokeObjectURL(r.href),1e4)}function T(e,t){let n=h(`input`,{type:`file`,accept:e});n.addEventListener(`change`,async()=>{let e=n.files?.[0];e&&t(e.name,await e.text())}),n.click()}function E(e,t,n=``,...r){return h(`div`,{class:`state ${e}`,role:e===`error`?`alert`:`status`},h(`div`,{class:`mark`,"aria-hidden":`true`}),h(`h2`,{},t),n?h(`p`,{},n):null,...r)}function D(e,t,...n){return h(`details`,{open:t},h(`summary`,{},e,x(`down`)),h(`div`,{class:`inside`},...n))}function O(e,t){return e.slice(0,t).map(e=>h(`li`,{},h(`code`,{},e.field),` ${e.found}; ${e.allowed}`))}var k=!0,A=`uplot`,j=`u-hz`,ee=`u-vt`,M=`u-title`,te=`u-wrap`,ne=`u-under`,re=`u-over`,ie=`u-axis`,ae=`u-off`,oe=`u-select`,se=`u-cursor-x`,ce=`u-cursor-y`,le=`u-cursor-pt`,N=`u-legend`,ue=`u-live`,de=`u-inline`,fe=`u-series`,pe=`u-marker`,me=`u-label`,he=`u-value`,ge=`width`,_e=`height`,ve=`top`,ye=`bottom`,be=`left`,xe=`right`,Se=`#000`,Ce=`#0000`,we=`mousemove`,P=`mousedown`,Te=`mouseup`,Ee=`mouseenter`,De=`mouseleave`,F=`dblclick`,I=`resize`,L=`scroll`,R=`change`,Oe=`dppxchange`,ke=`--`,Ae=typeof window<`u`,je=Ae?document:null,Me=Ae?window:null,Ne=Ae?navigator:null,z,Pe;function Fe(){let e=devicePixelRatio;z!=e&&(z=e,Pe&&Ye(R,Pe,Fe),Pe=matchMedia(`(min-resolution: ${z-.001}dppx) and (max-resolution: ${z+.001}dppx)`),Je(R,Pe,Fe),Me.dispatchEvent(new CustomEvent(Oe)))}function Ie(e,t){if(t!=null){let n=e.classList;!n.contains(t)&&n.add(t)}}function Le(e,t){let n=e.classList;n.contains(t)&&n.remove(t)}function Re(e,t,n){e.style[t]=n+`px`}function ze(e,t,n,r){let i=je.createElement(e);return t!=null&&Ie(i,t),n?.insertBefore(i,r),i}function Be(e,t){return ze(`div`,e,t)}var Ve=new WeakMap;function He(e,t,n,r,i){let a=`translate(`+t+`px,`+n+`px)`;a!=Ve.get(e)&&(e.style.transform=a,Ve.set(e,a),t<0||n<0||t>r||n>i?Ie(e,ae):Le(e,ae))}var B=new WeakMap;function Ue(e,t,n){let r=t+n;r!=B.get(e)&&(B.set(e,r),e.style.background=t,e.style.borderColor=n)}var We=new WeakMap;function Ge(e,t,n,r){let i=t+``+n;i!=We.get(e)&&(We.set(e,i),e.style.height=n+`px`,e.style.width=t+`px`,e.style.marginLeft=r?-t/2+`px`:0,e.style.marginTop=r?-n/2+`px`:0)}var Ke={passive:!0},qe={...Ke,capture:!0};function Je(e,t,n,r){t.addEventListener(e,n,r?qe:Ke)}function Ye(e,t,n,r){t.removeEventListener(e,n,Ke)}Ae&&Fe();function Xe(e,t,n,r){let i;n||=0,r||=t.length-1;let a=r<=2147483647;for(;r-n>1;)i=a?n+r>>1:vt((n+r)/2),t[i]<e?n=i:r=i;return e-t[n]<=t[r]-e?n:r}function Ze(e){return(t,n,r)=>{let i=-1,a=-1;for(let a=n;a<=r;a++)if(e(t[a])){i=a;break}for(let i=r;i>=n;i--)if(e(t[i])){a=i;break}return[i,a]}}var Qe=e=>e!=null,$e=e=>e!=null&&e>0,et=Ze(Qe),tt=Ze($e);function nt(e,t,n,r=0,i=!1){let a=i?tt:et,o=i?$e:Qe;[t,n]=a(e,t,n);let s=e[t],c=e[t];if(t>-1){if(r==1)s=e[t],c=e[n];else if(r==-1)s=e[n],c=e[t];else for(let r=t;r<=n;r++){let t=e[r];o(t)&&(t<s?s=t:t>c&&(c=t))}}return[s??kt,c??-kt]}function rt(e,t,n,r){let i=wt(e),a=wt(t);e==t&&(i==-1?(e*=n,t/=n):(e/=n,t*=n));let o=n==10?Tt:Et,s=i==1?vt:bt,c=a==1?bt:vt,l=s(o(_t(e))),u=c(o(_t(t))),d=Ct(n,l),f=Ct(n,u);return n==10&&(l<0&&(d=Ut(d,-l)),u<0&&(f=Ut(f,-u))),r||n==2?(e=d*i,t=f*a):(e=Ht(e,d),t=Vt(t,f)),[e,t]}function it(e,t,n,r){let i=rt(e,t,n,r);return e==0&&(i[0]=0),t==0&&(i[1]=0),i}var at=.1,ot={mode:3,pad:at},st={pad:0,soft:null,mode:0},ct={min:st,max:st};function lt(e,t,n,r){return en(n)?ft(e,t,n):(st.pad=n,st.soft=r?0:null,st.mode=r?3:0,ft(e,t,ct))}function ut(e,t){return e??t}function dt(e,t,n){for(t=ut(t,0),n=ut(n,e.length-1);t<=n;){if(e[t]!=null)return!0;t++}return!1}function ft(e,t,n){let r=n.min,i=n.max,a=ut(r.pad,0),o=ut(i.pad,0),s=ut(r.hard,-kt),c=ut(i.hard,kt),l=ut(r.soft,kt),u=ut(i.soft,-kt),d=ut(r.mode,0),f=ut(i.mode,0),p=t-e,m=Tt(p),h=St(_t(e),_t(t)),g=_t(Tt(h)-m);(p<1e-24||g>10)&&(p=0,(e==0||t==0)&&(p=1e-24,d==2&&l!=kt&&(a=0),f==2&&u!=-kt&&(o=0)));let _=p||h||1e3,v=Ct(10,vt(Tt(_))),y=Ut(Ht(e-_*(p==0?e==0?.1:1:a),v/10),24),b=e>=l&&(d==1||d==3&&y<=l||d==2&&y>=l)?l:kt,x=St(s,y<b&&e>=b?b:xt(b,y)),S=Ut(Vt(t+_*(p==0?t==0?.1:1:o),v/10),24),C=t<=u&&(f==1||f==3&&S>=u||f==2&&S<=u)?u:-kt,w=xt(c,S>C&&t<=C?C:St(C,S));return x==w&&x==0&&(w=100),[x,w]}var pt=new Intl.NumberFormat(Ae?Ne.language:`en-US`),mt=e=>pt.format(e),ht=Math,gt=ht.PI,_t=ht.abs,vt=ht.floor,yt=ht.round,bt=ht.ceil,xt=ht.min,St=ht.max,Ct=ht.pow,wt=ht.sign,Tt=ht.log10,Et=ht.log2,Dt=(e,t=1)=>ht.sinh(e)*t,Ot=(e,t=1)=>ht.asinh(e/t),kt=1/0;function At(e){return(Tt((e^e>>31)-(e>>31))|0)+1}function jt(e,t,n){return xt(St(e,t),n)}function Mt(e){return typeof e==`function`}function Nt(e){return Mt(e)?e:()=>e}var Pt=()=>{},Ft=e=>e,It=(e,t)=>t,Lt=e=>null,Rt=e=>!0,zt=(e,t)=>e==t,V=/\.\d*?(?=9{6,}|0{6,})/gm,H=e=>{if(Zt(e)||Wt.has(e))return e;let t=`${e}`,n=t.match(V);if(n==null)return e;let r=n[0].length-1;if(t.indexOf(`e-`)!=-1){let[e,n]=t.split(`e`);return+`${H(e)}e${n}`}return Ut(e,r)};function Bt(e,t){return H(Ut(H(e/t))*t)}function Vt(e,t){return H(bt(H(e/t))*t)}function Ht(e,t){return H(vt(H(e/t))*t)}function Ut(e,t=0){if(Zt(e))return e;let n=10**t;return yt(e*n*(1+2**-52))/n}var Wt=new Map;function Gt(e){return((``+e).split(`.`)[1]||``).length}function Kt(e,t,n,r){let i=[],a=r.map(Gt);for(let o=t;o<n;o++){let t=_t(o),n=Ut(Ct(e,o),t);for(let s=0;s<r.length;s++){let c=e==10?+`${r[s]}e${o}`:r[s]*n,l=(o>=0?0:t)+(o>=a[s]?0:a[s]),u=e==10?c:Ut(c,l);i.push(u),Wt.set(u,l)}}return i}var qt={},Jt=[],Yt=[null,null],Xt=Array.isArray,Zt=Number.isInteger,Qt=e=>e===void 0;function $t(e){return typeof e==`string`}function en(e){let t=!1;if(e!=null){let n=e.constructor;t=n==null||n==Object}return t}function tn(e){return typeof e==`object`&&!!e}var nn=Object.getPrototypeOf(Uint8Array),rn=`__proto__`;function an(e,t=en){let n;if(Xt(e)){let r=e.find(e=>e!=null);if(Xt(r)||t(r)){n=Array(e.length);for(let r=0;r<e.length;r++)n[r]=an(e[r],t)}else n=e.slice()}else if(e instanceof nn)n=e.slice();else if(t(e)){n={};for(let r in e)r!=rn&&(n[r]=an(e[r],t))}else n=e;return n}function on(e){let t=arguments;for(let n=1;n<t.length;n++){let r=t[n];for(let t in r)t!=rn&&(en(e[t])?on(e[t],an(r[t])):e[t]=an(r[t]))}return e}var sn=0,cn=1,ln=2;function un(e,t,n){for(let r=0,i,a=-1;r<t.length;r++){let o=t[r];if(o>a){for(i=o-1;i>=0&&e[i]==null;)e[i--]=null;for(i=o+1;i<n&&e[i]==null;)e[a=i++]=null}}}function dn(e,t){if(mn(e)){let t=e[0].slice();for(let n=1;n<e.length;n++)t.push(...e[n].slice(1));return hn(t[0])||(t=pn(t)),t}let n=new Set;for(let t=0;t<e.length;t++){let r=e[t][0],i=r.length;for(let e=0;e<i;e++)n.add(r[e])}let r=[Array.from(n).sort((e,t)=>e-t)],i=r[0].length,a=new Map;for(let e=0;e<i;e++)a.set(r[0][e],e);for(let n=0;n<e.length;n++){let o=e[n],s=o[0];for(let e=1;e<o.length;e++){let c=o[e],l=Array(i).fill(void 0),u=t?t[n][e]:cn,d=[];for(let e=0;e<c.length;e++){let t=c[e],n=a.get(s[e]);t===null?u!=sn&&(l[n]=t,u==ln&&d.push(n)):l[n]=t}un(l,d,i),r.push(l)}}return r}var fn=typeof queueMicrotask>`u`?e=>Promise.resolve().then(e):queueMicrotask;function pn(e){let t=e[0],n=t.length,r=Array(n);for(let e=0;e<r.length;e++)r[e]=e;r.sort((e,n)=>t[e]-t[n]);let i=[];for(let t=0;t<e.length;t++){let a=e[t],o=Array(n);for(let e=0;e<n;e++)o[e]=a[r[e]];i.push(o)}return i}function mn(e){let t=e[0][0],n=t.length;for(let r=1;r<e.length;r++){let i=e[r][0];if(i.length!=n)return!1;if(i!=t){for(let e=0;e<n;e++)if(i[e]!=t[e])return!1}}return!0}function hn(e,t=100){let n=e.length;if(n<=1)return!0;let r=0,i=n-1;for(;r<=i&&e[r]==null;)r++;for(;i>=r&&e[i]==null;)i--;if(i<=r)return!0;let a=St(1,vt((i-r+1)/t));for(let t=e[r],n=r+a;n<=i;n+=a){let r=e[n];if(r!=null){if(r<=t)return!1;t=r}}return!0}var gn=[`January`,`February`,`March`,`April`,`May`,`June`,`July`,`August`,`September`,`October`,`November`,`December`],_n=[`Sunday`,`Monday`,`Tuesday`,`Wednesday`,`Thursday`,`Friday`,`Saturday`];function vn(e){return e.slice(0,3)}var yn=_n.map(vn),bn={MMMM:gn,MMM:gn.map(vn),WWWW:_n,WWW:yn};function xn(e){return(e<10?`0`:``)+e}function Sn(e){return(e<10?`00`:e<100?`0`:``)+e}var Cn={YYYY:e=>e.getFullYear(),YY:e=>(e.getFullYear()+``).slice(2),MMMM:(e,t)=>t.MMMM[e.getMonth()],MMM:(e,t)=>t.MMM[e.getMonth()],MM:e=>xn(e.getMonth()+1),M:e=>e.getMonth()+1,DD:e=>xn(e.getDate()),D:e=>e.getDate(),WWWW:(e,t)=>t.WWWW[e.getDay()],WWW:(e,t)=>t.WWW[e.getDay()],HH:e=>xn(e.getHours()),H:e=>e.getHours(),h:e=>{let t=e.getHours();return t==0?12:t>12?t-12:t},AA:e=>e.getHours()>=12?`PM`:`AM`,aa:e=>e.getHours()>=12?`pm`:`am`,a:e=>e.getHours()>=12?`p`:`a`,mm:e=>xn(e.getMinutes()),m:e=>e.getMinutes(),ss:e=>xn(e.getSeconds()),s:e=>e.getSeconds(),fff:e=>Sn(e.getMilliseconds())};function wn(e,t){t||=bn;let n=[],r=/\{([a-z]+)\}|[^{]+/gi,i;for(;i=r.exec(e);)n.push(i[0][0]==`{`?Cn[i[1]]:i[0]);return e=>{let r=``;for(let i=0;i<n.length;i++)r+=typeof n[i]==`string`?n[i]:n[i](e,t);return r}}var Tn=new Intl.DateTimeFormat().resolvedOptions().timeZone;function En(e,t){let n;return t==`UTC`||t==`Etc/UTC`?n=new Date(+e+e.getTimezoneOffset()*6e4):t==Tn?n=e:(n=new Date(e.toLocaleString(`en-US`,{timeZone:t})),n.setMilliseconds(e.getMilliseconds())),n}var Dn=e=>e%1==0,On=[1,2,2.5,5],kn=Kt(10,-32,0,On),An=Kt(10,0,32,On),jn=An.filter(Dn),Mn=kn.concat(An),Nn=`
`,Pn=`{YYYY}`,Fn=Nn+Pn,In=`{M}/{D}`,Ln=Nn+In,Rn=Ln+`/{YY}`,zn=`{aa}`,Bn=`{h}:{mm}`+zn,Vn=Nn+Bn,Hn=`:{ss}`,Un=null;function Wn(e){let t=e*1e3,n=t*60,r=n*60,i=r*24,a=i*30,o=i*365,s=(e==1?Kt(10,0,3,On).filter(Dn):Kt(10,-3,0,On)).concat([t,t*5,t*10,t*15,t*30,n,n*5,n*10,n*15,n*30,r,r*2,r*3,r*4,r*6,r*8,r*12,i,i*2,i*3,i*4,i*5,i*6,i*7,i*8,i*9,i*10,i*15,a,a*2,a*3,a*4,a*6,o,o*2,o*5,o*10,o*25,o*50,o*100]),c=[[o,Pn,Un,Un,Un,Un,Un,Un,1],[i*28,`{MMM}`,Fn,Un,Un,Un,Un,Un,1],[i,In,Fn,Un,Un,Un,Un,Un,1],[r,`{h}`+zn,Rn,Un,Ln,Un,Un,Un,1],[n,Bn,Rn,Un,Ln,Un,Un,Un,1],[t,Hn,Rn+` `+Bn,Un,Ln+` `+Bn,Un,Vn,Un,1],[e,Hn+`.{fff}`,Rn+` `+Bn,Un,Ln+` `+Bn,Un,Vn,Un,1]];function l(t){return(s,c,l,u,d,f)=>{let p=[],m=d>=o,h=d>=a&&d<o,g=t(l),_=Ut(g*e,3),v=er(g.getFullYear(),m?0:g.getMonth(),h||m?1:g.getDate()),y=Ut(v*e,3);if(h||m){let n=h?d/a:0,r=m?d/o:0,i=_==y?_:Ut(er(v.getFullYear()+r,v.getMonth()+n,1)*e,3),s=new Date(yt(i/e)),c=s.getFullYear(),l=s.getMonth();for(let a=0;i<=u;a++){let o=er(c+r*a,l+n*a,1),s=o-t(Ut(o*e,3));i=Ut((+o+s)*e,3),i<=u&&p.push(i)}}else{let a=d>=i?i:d,o=y+(vt(l)-vt(_))+Vt(_-y,a);p.push(o);let m=t(o),h=m.getHours()+m.getMinutes()/n+m.getSeconds()/r,g=d/r,v=f/s.axes[c]._space;for(;o=Ut(o+d,e==1?0:3),!(o>u);)if(g>1){let e=vt(Ut(h+g,6))%24,n=t(o).getHours()-e;n>1&&(n=-1),o-=n*r,h=(h+g)%24;let i=p[p.length-1];Ut((o-i)/d,3)*v>=.7&&p.push(o)}else p.push(o)}return p}}return[s,c,l]}var[Gn,Kn,qn]=Wn(1),[Jn,Yn,Xn]=Wn(.001);Kt(2,-53,53,[1]);function Zn(e,t){return e.map(e=>e.map((n,r)=>r==0||r==8||n==null?n:t(r==1||e[8]==0?n:e[1]+n)))}function Qn(e,t){return(n,r,i,a,o)=>{let s=t.find(e=>o>=e[0])||t[t.length-1],c,l,u,d,f,p;return r.map(t=>{let n=e(t),r=n.getFullYear(),i=n.getMonth(),a=n.getDate(),o=n.getHours(),m=n.getMinutes(),h=n.getSeconds(),g=r!=c&&s[2]||i!=l&&s[3]||a!=u&&s[4]||o!=d&&s[5]||m!=f&&s[6]||h!=p&&s[7]||s[1];return c=r,l=i,u=a,d=o,f=m,p=h,g(n)})}}function $n(e,t){let n=wn(t);return(t,r,i,a,o)=>r.map(t=>n(e(t)))}function er(e,t,n){return new Date(e,t,n)}function tr(e,t){return t(e)}var nr=`{YYYY}-{MM}-{DD} {h}:{mm}{aa}`;function rr(e,t){return(n,r,i,a)=>a==null?ke:t(e(r))}function ir(e,t){let n=e.series[t];return n.width?n.stroke(e,t):n.points.width?n.points.stroke(e,t):null}function ar(e,t){return e.series[t].fill(e,t)}var or={show:!0,live:!0,isolate:!1,mount:Pt,markers:{show:!0,width:2,stroke:ir,fill:ar,dash:`solid`},idx:null,idxs:null,values:[]};function sr(e,t){let n=e.cursor.points,r=Be(),i=n.size(e,t);Re(r,ge,i),Re(r,_e,i);let a=i/-2;Re(r,`marginLeft`,a),Re(r,`marginTop`,a);let o=n.width(e,t,i);return o&&Re(r,`borderWidth`,o),r}function cr(e,t){let n=e.series[t].points;return n._fill||n._stroke}function lr(e,t){let n=e.series[t].points;return n._stroke||n._fill}function ur(e,t){return e.series[t].points.size}var dr=[0,0];function fr(e,t,n){return dr[0]=t,dr[1]=n,dr}function pr(e,t,n,r=!0){return e=>{e.button!=0||r&&e.target!=t||n(e)}}function mr(e,t,n,r=!0){return e=>{r&&e.target!=t||n(e)}}var hr={show:!0,x:!0,y:!0,lock:!1,move:fr,points:{one:!1,show:sr,size:ur,width:0,stroke:lr,fill:cr},bind:{mousedown:pr,mouseup:pr,click:pr,dblclick:pr,mousemove:mr,mouseleave:mr,mouseenter:mr},drag:{setScale:!0,x:!0,y:!1,dist:0,uni:null,click:(e,t)=>{t.stopPropagation(),t.stopImmediatePropagation()},_x:!1,_y:!1},focus:{dist:(e,t,n,r,i)=>r-i,prox:-1,bias:0},hover:{skip:[void 0],prox:null,bias:0},left:-10,top:-10,idx:null,dataIdx:null,idxs:null,event:null},gr={show:!0,stroke:`rgba(0,0,0,0.07)`,width:2},_r=on({},gr,{filter:It}),vr=on({},_r,{size:10}),yr=on({},gr,{show:!1}),br=`12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif, "Apple Color Emoji", "Segoe UI Emoji", "Segoe UI Symbol", "Noto Color Emoji"`,xr=`bold `+br,Sr=1.5,Cr={show:!0,scale:`x`,stroke:Se,space:50,gap:5,alignTo:1,size:50,labelGap:0,labelSize:30,labelFont:xr,side:2,grid:_r,ticks:vr,border:yr,font:br,lineGap:Sr,rotate:0},wr=`Value`,Tr=`Time`,Er={show:!0,scale:`x`,auto:!1,sorted:1,min:kt,max:-1/0,idxs:[]};function Dr(e,t,n,r,i){return t.map(e=>e==null?``:mt(e))}function Or(e,t,n,r,i,a,o){let s=[],c=Wt.get(i)||0;n=o?n:Ut(Vt(n,i),c);for(let e=n;e<=r;e=Ut(e+i,c))s.push(Object.is(e,-0)?0:e);return s}function kr(e,t,n,r,i,a,o){let s=[],c=e.scales[e.axes[t].scale].log;i=Ct(c,vt((c==10?Tt:Et)(n))),c==10&&(i=Mn[Xe(i,Mn)]);let l=n,u=i*c;c==10&&(u=Mn[Xe(u,Mn)]);do s.push(l),l+=i,c==10&&!Wt.has(l)&&(l=Ut(l,Wt.get(i))),l>=u&&(i=l,u=i*c,c==10&&(u=Mn[Xe(u,Mn)]));while(l<=r);return s}function Ar(e,t,n,r,i,a,o){let s=e.scales[e.axes[t].scale].asinh,c=r>s?kr(e,t,St(s,n),r,i):[s],l=r>=0&&n<=0?[0]:[];return(n<-s?kr(e,t,St(s,-r),-n,i):[s]).reverse().map(e=>-e).concat(l,c)}var jr=/./,Mr=/[12357]/,Nr=/[125]/,Pr=/1/,Fr=(e,t,n,r)=>e.map((e,i)=>t==4&&e==0||i%r==0&&n.test(e.toExponential()[+(e<0)])?e:null);function Ir(e,t,n,r,i){let a=e.axes[n],o=a.scale,s=e.scales[o],c=e.valToPos,l=a._space,u=c(10,o),d=c(9,o)-u>=l?jr:c(7,o)-u>=l?Mr:c(5,o)-u>=l?Nr:Pr;if(d==Pr){let e=_t(c(1,o)-u);if(e<l)return Fr(t.slice().reverse(),s.distr,d,bt(l/e)).reverse()}return Fr(t,s.distr,d,1)}function Lr(e,t,n,r,i){let a=e.axes[n],o=a.scale,s=a._space,c=e.valToPos,l=_t(c(1,o)-c(2,o));return l<s?Fr(t.slice().reverse(),3,jr,bt(s/l)).reverse():t}function Rr(e,t,n,r){return r==null?ke:t==null?``:mt(t)}var zr={show:!0,scale:`y`,stroke:Se,space:30,gap:5,alignTo:1,size:50,labelGap:0,labelSize:30,labelFont:xr,side:3,grid:_r,ticks:vr,border:yr,font:br,lineGap:Sr,rotate:0};function Br(e,t){return Ut((3+(e||1)*2)*t,3)}function Vr(e,t){let{scale:n,idxs:r}=e.series[0],i=e._data[0],a=e.valToPos(i[r[0]],n,!0),o=_t(e.valToPos(i[r[1]],n,!0)-a)/(e.series[t].points.space*z);return r[1]-r[0]<=o}var Hr={scale:null,auto:!0,sorted:0,min:kt,max:-1/0},Ur=(e,t,n,r,i)=>i,Wr={show:!0,auto:!0,sorted:0,gaps:Ur,alpha:1,facets:[on({},Hr,{scale:`x`}),on({},Hr,{scale:`y`})]},Gr={scale:`y`,auto:!0,sorted:0,show:!0,spanGaps:!1,gaps:Ur,alpha:1,points:{show:Vr,filter:null},values:null,min:kt,max:-1/0,idxs:[],path:null,clip:null};function Kr(e,t,n,r,i){return n/10}var qr={time:k,auto:!0,distr:1,log:10,asinh:1,min:null,max:null,dir:1,ori:0},Jr=on({},qr,{time:!1,ori:1}),Yr={};function Xr(e,t){let n=Yr[e];return n||(n={key:e,plots:[],sub(e){n.plots.push(e)},unsub(e){n.plots=n.plots.filter(t=>t!=e)},pub(e,t,r,i,a,o,s){for(let c=0;c<n.plots.length;c++)n.plots[c]!=t&&n.plots[c].pub(e,t,r,i,a,o,s)}},e!=null&&(Yr[e]=n)),n}var Zr=1,Qr=2;function $r(e,t,n){let r=e.mode,i=e.series[t],a=r==2?e._data[t]:e._data,o=e.scales,s=e.bbox,c=a[0],l=r==2?a[1]:a[t],u=r==2?o[i.facets[0].scale]:o[e.series[0].scale],d=r==2?o[i.facets[1].scale]:o[i.scale],f=s.left,p=s.top,m=s.width,h=s.height,g=e.valToPosH,_=e.valToPosV;return u.ori==0?n(i,c,l,u,d,g,_,f,p,m,h,ci,ui,fi,mi,gi):n(i,c,l,u,d,_,g,p,f,h,m,li,di,pi,hi,_i)}function ei(e,t){let n=0,r=0,i=ut(e.bands,Jt);for(let e=0;e<i.length;e++){let a=i[e];a.series[0]==t?n=a.dir:a.series[1]==t&&(a.dir==1?r|=1:r|=2)}return[n,r==1?-1:r==2?1:r==3?2:0]}function ti(e,t,n,r,i){let a=e.mode,o=e.series[t],s=a==2?o.facets[1].scale:o.scale,c=e.scales[s];return i==-1?c.min:i==1?c.max:c.distr==3?c.dir==1?c.min:c.max:0}function ni(e,t,n,r,i,a){return $r(e,t,(e,t,o,s,c,l,u,d,f,p,m)=>{let h=e.pxRound,g=s.dir*(s.ori==0?1:-1),_=s.ori==0?ui:di,v,y;g==1?(v=n,y=r):(v=r,y=n);let b=h(l(t[v],s,p,d)),x=h(u(o[v],c,m,f)),S=h(l(t[y],s,p,d)),C=h(u(a==1?c.max:c.min,c,m,f)),w=new Path2D(i);return _(w,S,C),_(w,b,C),_(w,b,x),w})}function ri(e,t,n,r,i,a){let o=null;if(e.length>0){o=new Path2D;let s=t==0?fi:pi,c=n;for(let t=0;t<e.length;t++){let n=e[t];if(n[1]>n[0]){let e=n[0]-c;e>0&&s(o,c,r,e,r+a),c=n[1]}}let l=n+i-c;l>0&&s(o,c,r-5,l,r+a+10)}return o}function ii(e,t,n){let r=e[e.length-1];r&&r[0]==t?r[1]=n:e.push([t,n])}function ai(e,t,n,r,i,a,o){let s=[],c=e.length;for(let l=i==1?n:r;l>=n&&l<=r;l+=i)if(t[l]===null){let u=l,d=l;if(i==1)for(;++l<=r&&t[l]===null;)d=l;else for(;--l>=n&&t[l]===null;)d=l;let f=a(e[u]),p=d==u?f:a(e[d]),m=u-i;f=o<=0&&m>=0&&m<c?a(e[m]):f;let h=d+i;p=o>=0&&h>=0&&h<c?a(e[h]):p,p>=f&&s.push([f,p])}return s}function oi(e){return e==0?Ft:e==1?yt:t=>Bt(t,e)}function si(e){let t=e==0?ci:li,n=e==0?(e,t,n,r,i,a)=>{e.arcTo(t,n,r,i,a)}:(e,t,n,r,i,a)=>{e.arcTo(n,t,i,r,a)},r=e==0?(e,t,n,r,i)=>{e.rect(t,n,r,i)}:(e,t,n,r,i)=>{e.rect(n,t,i,r)};return(e,i,a,o,s,c=0,l=0)=>{c==0&&l==0?r(e,i,a,o,s):(c=xt(c,o/2,s/2),l=xt(l,o/2,s/2),t(e,i+c,a),n(e,i+o,a,i+o,a+s,c),n(e,i+o,a+s,i,a+s,l),n(e,i,a+s,i,a,l),n(e,i,a,i+o,a,c),e.closePath())}}var ci=(e,t,n)=>{e.moveTo(t,n)},li=(e,t,n)=>{e.moveTo(n,t)},ui=(e,t,n)=>{e.lineTo(t,n)},di=(e,t,n)=>{e.lineTo(n,t)},fi=si(0),pi=si(1),mi=(e,t,n,r,i,a)=>{e.arc(t,n,r,i,a)},hi=(e,t,n,r,i,a)=>{e.arc(n,t,r,i,a)},gi=(e,t,n,r,i,a,o)=>{e.bezierCurveTo(t,n,r,i,a,o)},_i=(e,t,n,r,i,a,o)=>{e.bezierCurveTo(n,t,i,r,o,a)};function vi(e){return(e,t,n,r,i)=>$r(e,t,(t,a,o,s,c,l,u,d,f,p,m)=>{let{pxRound:h,points:g}=t,_,v;s.ori==0?(_=ci,v=mi):(_=li,v=hi);let y=Ut(g.width*z,3),b=(g.size-g.width)/2*z,x=Ut(b*2,3),S=new Path2D,C=new Path2D,{left:w,top:T,width:E,height:D}=e.bbox;fi(C,w-x,T-x,E+x*2,D+x*2);let O=e=>{if(o[e]!=null){let t=h(l(a[e],s,p,d)),n=h(u(o[e],c,m,f));_(S,t+b,n),v(S,t,n,b,0,gt*2)}};if(i)i.forEach(O);else for(let e=n;e<=r;e++)O(e);return{stroke:y>0?S:null,fill:S,clip:C,flags:3}})}function yi(e){return(t,n,r,i,a,o)=>{r!=i&&(a!=r&&o!=r&&e(t,n,r),a!=i&&o!=i&&e(t,n,i),e(t,n,o))}}var bi=yi(ui),xi=yi(di);function Si(e){let t=ut(e?.alignGaps,0);return(e,n,r,i)=>$r(e,n,(a,o,s,c,l,u,d,f,p,m,h)=>{[r,i]=et(s,r,i);let g=a.pxRound,_=e=>g(u(e,c,m,f)),v=e=>g(d(e,l,h,p)),y,b;c.ori==0?(y=ui,b=bi):(y=di,b=xi);let x=c.dir*(c.ori==0?1:-1),S={stroke:new Path2D,fill:null,clip:null,band:null,gaps:null,flags:Zr},C=S.stroke,w=!1;if(i-r>=m*4){let t=t=>e.posToVal(t,c.key,!0),n=null,a=null,l,u,d,f=_(o[x==1?r:i]),p=_(o[r]),m=_(o[i]),h=t(x==1?p+1:m-1);for(let e=x==1?r:i;e>=r&&e<=i;e+=x){let r=o[e],i=(x==1?r<h:r>h)?f:_(r),c=s[e];i==f?c==null?c===null&&(w=!0):(u=c,n==null?(y(C,i,v(u)),l=n=a=u):u<n?n=u:u>a&&(a=u)):(n!=null&&b(C,f,v(n),v(a),v(l),v(u)),c==null?(n=a=null,c===null&&(w=!0)):(u=c,y(C,i,v(u)),n=a=l=u),f=i,h=t(f+x))}n!=null&&n!=a&&d!=f&&b(C,f,v(n),v(a),v(l),v(u))}else for(let e=x==1?r:i;e>=r&&e<=i;e+=x){let t=s[e];t===null?w=!0:t!=null&&y(C,_(o[e]),v(t))}let[T,E]=ei(e,n);if(a.fill!=null||T!=0){let t=S.fill=new Path2D(C),s=v(a.fillTo(e,n,a.min,a.max,T)),c=_(o[r]),l=_(o[i]);x==-1&&([l,c]=[c,l]),y(t,l,s),y(t,c,s)}if(!a.spanGaps){let l=[];w&&l.push(...ai(o,s,r,i,x,_,t)),S.gaps=l=a.gaps(e,n,r,i,l),S.clip=ri(l,c.ori,f,p,m,h)}return E!=0&&(S.band=E==2?[ni(e,n,r,i,C,-1),ni(e,n,r,i,C,1)]:ni(e,n,r,i,C,E)),S})}function Ci(e){let t=ut(e.align,1),n=ut(e.ascDesc,!1),r=ut(e.alignGaps,0),i=ut(e.extend,!1);return(e,a,o,s)=>$r(e,a,(c,l,u,d,f,p,m,h,g,_,v)=>{[o,s]=et(u,o,s);let y=c.pxRound,{left:b,width:x}=e.bbox,S=e=>y(p(e,d,_,h)),C=e=>y(m(e,f,v,g)),w=d.ori==0?ui:di,T={stroke:new Path2D,fill:null,clip:null,band:null,gaps:null,flags:Zr},E=T.stroke,D=d.dir*(d.ori==0?1:-1),O=C(u[D==1?o:s]),k=S(l[D==1?o:s]),A=k,j=k;i&&t==-1&&(j=b,w(E,j,O)),w(E,k,O);for(let e=D==1?o:s;e>=o&&e<=s;e+=D){let n=u[e];if(n==null)continue;let r=S(l[e]),i=C(n);t==1?w(E,r,O):w(E,A,i),w(E,r,i),O=i,A=r}let ee=A;i&&t==1&&(ee=b+x,w(E,ee,O));let[M,te]=ei(e,a);if(c.fill!=null||M!=0){let t=T.fill=new Path2D(E),n=C(c.fillTo(e,a,c.min,c.max,M));w(t,ee,n),w(t,j,n)}if(!c.spanGaps){let i=[];i.push(...ai(l,u,o,s,D,S,r));let f=c.width*z/2,p=n||t==1?f:-f,m=n||t==-1?-f:f;i.forEach(e=>{e[0]+=p,e[1]+=m}),T.gaps=i=c.gaps(e,a,o,s,i),T.clip=ri(i,d.ori,h,g,_,v)}return te!=0&&(T.band=te==2?[ni(e,a,o,s,E,-1),ni(e,a,o,s,E,1)]:ni(e,a,o,s,E,te)),T})}function wi(e,t,n,r,i,a,o=kt){if(e.length>1){let s=null;for(let c=0,l=1/0;c<e.length;c++)if(t[c]!==void 0){if(s!=null){let t=_t(e[c]-e[s]);t<l&&(l=t,o=_t(n(e[c],r,i,a)-n(e[s],r,i,a)))}s=c}}return o}function Ti(e){e||=qt;let t=ut(e.size,[.6,kt,1]),n=e.align||0,r=e.gap||0,i=e.radius;i=i==null?[0,0]:typeof i==`number`?[i,0]:i;let a=Nt(i),o=1-t[0],s=ut(t[1],kt),c=ut(t[2],1),l=ut(e.disp,qt),u=ut(e.each,e=>{}),{fill:d,stroke:f}=l;return(e,t,i,p)=>$r(e,t,(m,h,g,_,v,y,b,x,S,C,w)=>{let T=m.pxRound,E=n,D=r*z,O=s*z,k=c*z,A,j;_.ori==0?[A,j]=a(e,t):[j,A]=a(e,t);let ee=_.dir*(_.ori==0?1:-1),M=_.ori==0?fi:pi,te=_.ori==0?u:(e,t,n,r,i,a,o)=>{u(e,t,n,i,r,o,a)},ne=ut(e.bands,Jt).find(e=>e.series[0]==t),re=ne==null?0:ne.dir,ie=m.fillTo(e,t,m.min,m.max,re),ae=T(b(ie,v,w,S)),oe,se,ce,le=C,N=T(m.width*z),ue=!1,de=null,fe=null,pe=null,me=null;d!=null&&(N==0||f!=null)&&(ue=!0,de=d.values(e,t,i,p),fe=new Map,new Set(de).forEach(e=>{e!=null&&fe.set(e,new Path2D)}),N>0&&(pe=f.values(e,t,i,p),me=new Map,new Set(pe).forEach(e=>{e!=null&&me.set(e,new Path2D)})));let{x0:he,size:ge}=l;if(he!=null&&ge!=null){E=1,h=he.values(e,t,i,p),he.unit==2&&(h=h.map(t=>e.posToVal(x+t*C,_.key,!0)));let n=ge.values(e,t,i,p);se=ge.unit==2?n[0]*C:y(n[0],_,C,x)-y(0,_,C,x),le=wi(h,g,y,_,C,x,le),ce=le-se+D}else le=wi(h,g,y,_,C,x,le),ce=le*o+D,se=le-ce;ce<1&&(ce=0),N>=se/2&&(N=0),ce<5&&(T=Ft);let _e=ce>0,ve=le-ce-(_e?N:0);se=T(jt(ve,k,O)),oe=(E==0?se/2:E==ee?0:se)-E*ee*((E==0?D/2:0)+(_e?N/2:0));let ye={stroke:null,fill:null,clip:null,band:null,gaps:null,flags:0},be=ue?null:new Path2D,xe=null;if(ne!=null)xe=e.data[ne.series[1]];else{let{y0:n,y1:r}=l;n!=null&&r!=null&&(g=r.values(e,t,i,p),xe=n.values(e,t,i,p))}let Se=A*se,Ce=j*se;for(let n=ee==1?i:p;n>=i&&n<=p;n+=ee){let r=g[n];if(r==null)continue;if(xe!=null){let e=xe[n]??0;if(r-e==0)continue;ae=b(e,v,w,S)}let i=y(_.distr!=2||l!=null?h[n]:n,_,C,x),a=b(ut(r,ie),v,w,S),o=T(i-oe),s=T(St(a,ae)),c=T(xt(a,ae)),u=s-c;if(r!=null){let i=r<0?Ce:Se,a=r<0?Se:Ce;ue?(N>0&&pe[n]!=null&&M(me.get(pe[n]),o,c+vt(N/2),se,St(0,u-N),i,a),de[n]!=null&&M(fe.get(de[n]),o,c+vt(N/2),se,St(0,u-N),i,a)):M(be,o,c+vt(N/2),se,St(0,u-N),i,a),te(e,t,n,o-N/2,c,se+N,u)}}return N>0?ye.stroke=ue?me:be:ue||(ye._fill=m.width==0?m._fill:m._stroke??m._fill,ye.width=0),ye.fill=ue?fe:be,ye})}function Ei(e,t){let n=ut(t?.alignGaps,0);return(t,r,i,a)=>$r(t,r,(o,s,c,l,u,d,f,p,m,h,g)=>{[i,a]=et(c,i,a);let _=o.pxRound,v=e=>_(d(e,l,h,p)),y=e=>_(f(e,u,g,m)),b,x,S;l.ori==0?(b=ci,S=ui,x=gi):(b=li,S=di,x=_i);let C=l.dir*(l.ori==0?1:-1),w=v(s[C==1?i:a]),T=w,E=[],D=[];for(let e=C==1?i:a;e>=i&&e<=a;e+=C)if(c[e]!=null){let t=s[e],n=v(t);E.push(T=n),D.push(y(c[e]))}let O={stroke:e(E,D,b,S,x,_),fill:null,clip:null,band:null,gaps:null,flags:Zr},k=O.stroke,[A,j]=ei(t,r);if(o.fill!=null||A!=0){let e=O.fill=new Path2D(k),n=y(o.fillTo(t,r,o.min,o.max,A));S(e,T,n),S(e,w,n)}if(!o.spanGaps){let e=[];e.push(...ai(s,c,i,a,C,v,n)),O.gaps=e=o.gaps(t,r,i,a,e),O.clip=ri(e,l.ori,p,m,h,g)}return j!=0&&(O.band=j==2?[ni(t,r,i,a,k,-1),ni(t,r,i,a,k,1)]:ni(t,r,i,a,k,j)),O})}function Di(e){return Ei(Oi,e)}function Oi(e,t,n,r,i,a){let o=e.length;if(o<2)return null;let s=new Path2D;if(n(s,e[0],t[0]),o==2)r(s,e[1],t[1]);else{let n=Array(o),r=Array(o-1),a=Array(o-1),c=Array(o-1);for(let n=0;n<o-1;n++)a[n]=t[n+1]-t[n],c[n]=e[n+1]-e[n],r[n]=a[n]/c[n];n[0]=r[0];for(let e=1;e<o-1;e++)r[e]===0||r[e-1]===0||r[e-1]>0!=r[e]>0?n[e]=0:(n[e]=3*(c[e-1]+c[e])/((2*c[e]+c[e-1])/r[e-1]+(c[e]+2*c[e-1])/r[e]),isFinite(n[e])||(n[e]=0));n[o-1]=r[o-2];for(let r=0;r<o-1;r++)i(s,e[r]+c[r]/3,t[r]+n[r]*c[r]/3,e[r+1]-c[r]/3,t[r+1]-n[r+1]*c[r]/3,e[r+1],t[r+1])}return s}var ki=new Set;function Ai(){for(let e of ki)e.syncRect(!0)}Ae&&(Je(I,Me,Ai),Je(L,Me,Ai,!0),Je(Oe,Me,()=>{Ki.pxRatio=z}));var ji=Si(),Mi=vi();function Ni(e,t,n,r){return(r?[e[0],e[1]].concat(e.slice(2)):[e[0]].concat(e.slice(1))).map((e,r)=>Fi(e,r,t,n))}function Pi(e,t){return e.map((e,n)=>n==0?{}:on({},t,e))}function Fi(e,t,n,r){return on({},t==0?n:r,e)}function Ii(e,t,n){return t==null?Yt:[t,n]}var Li=Ii;function Ri(e,t,n){return t==null?Yt:lt(t,n,at,!0)}function zi(e,t,n,r){return t==null?Yt:rt(t,n,e.scales[r].log,!1)}var Bi=zi;function Vi(e,t,n,r){return t==null?Yt:it(t,n,e.scales[r].log,!1)}var Hi=Vi;function Ui(e,t,n,r,i){let a=St(At(e),At(t)),o=t-e,s=Xe(i/r*o,n);do{let e=n[s],t=r*e/o;if(t>=i&&a+(e<5?Wt.get(e):0)<=17)return[e,t]}while(++s<n.length);return[0,0]}function Wi(e){let t,n;return e=e.replace(/(\d+)px/,(e,r)=>(t=yt((n=+r)*z))+`px`),[e,t,n]}function Gi(e){e.show&&[e.font,e.labelFont].forEach(e=>{let t=Ut(e[2]*z,1);e[0]=e[0].replace(/[0-9.]+px/,t+`px`),e[1]=t})}function Ki(e,t,n){let r={mode:ut(e.mode,1)},i=r.mode;function a(e,t,n,r){let i=t.valToPct(e);return r+n*(t.dir==-1?1-i:i)}function o(e,t,n,r){let i=t.valToPct(e);return r+n*(t.dir==-1?i:1-i)}function s(e,t,n,r){return t.ori==0?a(e,t,n,r):o(e,t,n,r)}r.valToPosH=a,r.valToPosV=o;let c=!1;r.status=0;let l=r.root=Be(A);if(e.id!=null&&(l.id=e.id),Ie(l,e.class),e.title){let t=Be(M,l);t.textContent=e.title}let u=ze(`canvas`),d=r.ctx=u.getContext(`2d`),f=Be(te,l);Je(`click`,f,e=>{e.target===m&&(Oi!=wi||Ai!=Ti)&&qi.click(r,e)},!0);let p=r.under=Be(ne,f);f.appendChild(u);let m=r.over=Be(re,f);e=an(e);let h=+ut(e.pxAlign,1),g=oi(h);(e.plugins||[]).forEach(t=>{t.opts&&(e=t.opts(r,e)||e)});let _=e.ms||.001,v=r.series=i==1?Ni(e.series||[],Er,Gr,!1):Pi(e.series||[null],Wr),y=r.axes=Ni(e.axes||[],Cr,zr,!0),b=r.scales={},x=r.bands=e.bands||[];x.forEach(e=>{e.fill=Nt(e.fill||null),e.dir=ut(e.dir,-1)});let S=i==2?v[1].facets[0].scale:v[0].scale,C={axes:ci,series:Vr},w=(e.drawOrder||[`axes`,`series`]).map(e=>C[e]);function T(e){let t=e.distr==3?t=>Tt(t>0?t:e.clamp(r,t,e.min,e.max,e.key)):e.distr==4?t=>Ot(t,e.asinh):e.distr==100?t=>e.fwd(t):e=>e;return n=>{let r=t(n),{_min:i,_max:a}=e,o=a-i;return(r-i)/o}}function E(t){let n=b[t];if(n==null){let r=(e.scales||qt)[t]||qt;if(r.from!=null){E(r.from);let e=on({},b[r.from],r,{key:t});e.valToPct=T(e),b[t]=e}else{n=b[t]=on({},t==S?qr:Jr,r),n.key=t;let e=n.time,a=n.range,o=Xt(a);if((t!=S||i==2&&!e)&&(o&&(a[0]==null||a[1]==null)&&(a={min:a[0]==null?ot:{mode:1,hard:a[0],soft:a[0]},max:a[1]==null?ot:{mode:1,hard:a[1],soft:a[1]}},o=!1),!o&&en(a))){let e=a;a=(t,n,r)=>n==null?Yt:lt(n,r,e)}n.range=Nt(a||(e?Li:t==S?n.distr==3?Bi:n.distr==4?Hi:Ii:n.distr==3?zi:n.distr==4?Vi:Ri)),n.auto=Nt(!o&&n.auto),n.clamp=Nt(n.clamp||Kr),n._min=n._max=null,n.valToPct=T(n)}}}E(`x`),E(`y`),i==1&&v.forEach(e=>{E(e.scale)}),y.forEach(e=>{E(e.scale)});for(let t in e.scales)E(t);let D=b[S],O=D.distr,k,Se;D.ori==0?(Ie(l,j),k=a,Se=o):(Ie(l,ee),k=o,Se=a);let I={};for(let e in b){let t=b[e];(t.min!=null||t.max!=null)&&(I[e]={min:t.min,max:t.max},t.min=t.max=null)}let L=e.tzDate||(e=>new Date(yt(e/_))),R=e.fmtDate||wn,Ae=_==1?qn(L):Xn(L),Ne=Qn(L,Zn(_==1?Kn:Yn,R)),Pe=rr(L,tr(nr,R)),Fe=[],Ve=r.legend=on({},or,e.legend),B=r.cursor=on({},hr,{drag:{y:i==2}},e.cursor),We=Ve.show,Ke=B.show,qe=Ve.markers;Ve.idxs=Fe,qe.width=Nt(qe.width),qe.dash=Nt(qe.dash),qe.stroke=Nt(qe.stroke),qe.fill=Nt(qe.fill);let Ze,Qe,$e,et=[],tt=[],st,ct=!1,ft={};if(Ve.live){let e=v[1]?v[1].values:null;ct=e!=null,st=ct?e(r,1,0):{_:0};for(let e in st)ft[e]=ke}if(We){if(Ze=ze(`table`,N,l),$e=ze(`tbody`,null,Ze),Ve.mount(r,Ze),ct){Qe=ze(`thead`,null,Ze,$e);let e=ze(`tr`,null,Qe);for(var pt in ze(`th`,null,e),st)ze(`th`,me,e).textContent=pt}else Ie(Ze,de),Ve.live&&Ie(Ze,ue)}let mt={show:!0},ht={show:!1};function vt(e,t){if(t==0&&(ct||!Ve.live||i==2))return Yt;let n=[],a=ze(`tr`,fe,$e,$e.childNodes[t]);Ie(a,e.class),e.show||Ie(a,ae);let o=ze(`th`,null,a);if(qe.show){let e=Be(pe,o);if(t>0){let n=qe.width(r,t);n&&(e.style.border=n+`px `+qe.dash(r,t)+` `+qe.stroke(r,t)),e.style.background=qe.fill(r,t)}}let s=Be(me,o);for(var c in e.label instanceof HTMLElement?s.appendChild(e.label):s.textContent=e.label,t>0&&(qe.show||(s.style.color=e.width>0?qe.stroke(r,t):qe.fill(r,t)),Et(`click`,o,t=>{if(B._lock)return;Tn(t);let n=v.indexOf(e);if((t.ctrlKey||t.metaKey)!=Ve.isolate){let e=v.some((e,t)=>t>0&&t!=n&&e.show);v.forEach((t,r)=>{r>0&&ea(r,e?r==n?mt:ht:mt,!0,Ra.setSeries)})}else ea(n,{show:!e.show},!0,Ra.setSeries)},!1),On&&Et(Ee,o,t=>{B._lock||(Tn(t),ea(v.indexOf(e),sa,!0,Ra.setSeries))},!1)),st){let e=ze(`td`,he,a);e.textContent=`--`,n.push(e)}return[a,n]}let wt=new Map;function Et(e,t,n,i=!0){let a=wt.get(t)||{},o=B.bind[e](r,t,n,i);o&&(Je(e,t,a[e]=o),wt.set(t,a))}function At(e,t,n){let r=wt.get(t)||{};for(let n in r)(e==null||n==e)&&(Ye(n,t,r[n]),delete r[n]);e??wt.delete(t)}let Pt=0,Ft=0,V=0,H=0,Vt=0,Ht=0,Kt=Vt,Zt=Ht,nn=V,rn=H,sn=0,cn=0,ln=0,un=0;r.bbox={};let dn=!1,pn=!1,mn=!1,hn=!1,gn=!1,_n=!1;function vn(e,t,n){(n||e!=r.width||t!=r.height)&&yn(e,t),li(!1),mn=!0,pn=!0,mi()}function yn(e,t){r.width=Pt=V=e,r.height=Ft=H=t,Vt=Ht=0,Sn(),Cn();let n=r.bbox;sn=n.left=Bt(Vt*z,.5),cn=n.top=Bt(Ht*z,.5),ln=n.width=Bt(V*z,.5),un=n.height=Bt(H*z,.5)}function bn(){let e=!1,t=0;for(;!e;){t++;let n=ai(t),i=si(t);e=t==3||n&&i,e||(yn(r.width,r.height),pn=!0)}}function xn({width:e,height:t}){vn(e,t)}r.setSize=xn;function Sn(){let e=!1,t=!1,n=!1,r=!1;y.forEach((i,a)=>{if(i.show&&i._show){let{side:a,_size:o}=i,s=a%2,c=o+(i.label==null?0:i.labelSize);c>0&&(s?(V-=c,a==3?(Vt+=c,r=!0):n=!0):(H-=c,a==0?(Ht+=c,e=!0):t=!0))}}),zn[0]=e,zn[1]=n,zn[2]=t,zn[3]=r,V-=Un[1]+Un[3],Vt+=Un[3],H-=Un[2]+Un[0],Ht+=Un[0]}function Cn(){let e=Vt+V,t=Ht+H,n=Vt,r=Ht;function i(i,a){switch(i){case 1:return e+=a,e-a;case 2:return t+=a,t-a;case 3:return n-=a,n+a;case 0:return r-=a,r+a}}y.forEach((e,t)=>{if(e.show&&e._show){let t=e.side;e._pos=i(t,e._size),e.label!=null&&(e._lpos=i(t,e.labelSize))}})}if(B.dataIdx==null){let e=B.hover,n=e.skip=new Set(e.skip??[]);n.add(void 0);let r=e.prox=Nt(e.prox),i=e.bias??=0;B.dataIdx=(e,a,o,s)=>{if(a==0)return o;let c=o,l=r(e,a,o,s)??kt,u=l>=0&&l<kt,d=D.ori==0?V:H,f=B.left,p=t[0],m=t[a];if(n.has(m[o])){c=null;let e=null,t=null,r;if(i==0||i==-1)for(r=o;e==null&&r-->0;)n.has(m[r])||(e=r);if(i==0||i==1)for(r=o;t==null&&r++<m.length;)n.has(m[r])||(t=r);if(e!=null||t!=null){if(u){let n=e==null?-1/0:k(p[e],D,d,0),r=t==null?1/0:k(p[t],D,d,0),i=f-n,a=r-f;i<=a?i<=l&&(c=e):a<=l&&(c=t)}else c=t==null?e:e==null?t:o-e<=t-o?e:t}}else u&&_t(f-k(p[o],D,d,0))>l&&(c=null);return c}}let Tn=e=>{B.event=e};B.idxs=Fe,B._lock=!1;let En=B.points;En.show=Nt(En.show),En.size=Nt(En.size),En.stroke=Nt(En.stroke),En.width=Nt(En.width),En.fill=Nt(En.fill);let Dn=r.focus=on({},e.focus||{alpha:.3},B.focus),On=Dn.prox>=0,kn=On&&En.one,An=[],Nn=[],Pn=[];function Fn(e,t){let n=En.show(r,t);if(n instanceof HTMLElement)return Ie(n,le),Ie(n,e.class),He(n,-10,-10,V,H),m.insertBefore(n,An[t]),n}function In(e,t){if(i==1||t>0){let t=i==1&&b[e.scale].time,n=e.value;e.value=t?$t(n)?rr(L,tr(n,R)):n||Pe:n||Rr,e.label=e.label||(t?Tr:wr)}if(kn||t>0){e.width=e.width==null?1:e.width,e.paths=e.paths||ji||Lt,e.fillTo=Nt(e.fillTo||ti),e.pxAlign=+ut(e.pxAlign,h),e.pxRound=oi(e.pxAlign),e.stroke=Nt(e.stroke||null),e.fill=Nt(e.fill||null),e._stroke=e._fill=e._paths=e._focus=null;let t=Br(St(1,e.width),1),n=e.points=on({},{size:t,width:St(1,t*.2),stroke:e.stroke,space:t*2,paths:Mi,_stroke:null,_fill:null},e.points);n.show=Nt(n.show),n.filter=Nt(n.filter),n.fill=Nt(n.fill),n.stroke=Nt(n.stroke),n.paths=Nt(n.paths),n.pxAlign=e.pxAlign}if(We){let n=vt(e,t);et.splice(t,0,n[0]),tt.splice(t,0,n[1]),Ve.values.push(null)}if(Ke){Fe.splice(t,0,null);let n=null;kn?t==0&&(n=Fn(e,t)):t>0&&(n=Fn(e,t)),An.splice(t,0,n),Nn.splice(t,0,0),Pn.splice(t,0,0)}Ia(`addSeries`,t)}function Ln(e,t){t??=v.length,e=i==1?Fi(e,t,Er,Gr):Fi(e,t,{},Wr),v.splice(t,0,e),In(v[t],t)}r.addSeries=Ln;function Rn(e){if(v.splice(e,1),We){Ve.values.splice(e,1),tt.splice(e,1);let t=et.splice(e,1)[0];At(null,t.firstChild),t.remove()}Ke&&(Fe.splice(e,1),An.splice(e,1)[0].remove(),Nn.splice(e,1),Pn.splice(e,1)),Ia(`delSeries`,e)}r.delSeries=Rn;let zn=[!1,!1,!1,!1];function Bn(e,t){if(e._show=e.show,e.show){let n=e.side%2,i=b[e.scale];i??=(e.scale=n?v[1].scale:S,b[e.scale]);let a=i.time;e.size=Nt(e.size),e.space=Nt(e.space),e.rotate=Nt(e.rotate),Xt(e.incrs)&&e.incrs.forEach(e=>{!Wt.has(e)&&Wt.set(e,Gt(e))}),e.incrs=Nt(e.incrs||(i.distr==2?jn:a?_==1?Gn:Jn:Mn)),e.splits=Nt(e.splits||(a&&i.distr==1?Ae:i.distr==3?kr:i.distr==4?Ar:Or)),e.stroke=Nt(e.stroke),e.grid.stroke=Nt(e.grid.stroke),e.ticks.stroke=Nt(e.ticks.stroke),e.border.stroke=Nt(e.border.stroke);let o=e.values;e.values=Xt(o)&&!Xt(o[0])?Nt(o):a?Xt(o)?Qn(L,Zn(o,R)):$t(o)?$n(L,o):o||Ne:o||Dr,e.filter=Nt(e.filter||(i.distr>=3&&i.log==10?Ir:i.distr==3&&i.log==2?Lr:It)),e.font=Wi(e.font),e.labelFont=Wi(e.labelFont),e._size=e.size(r,null,t,0),e._space=e._rotate=e._incrs=e._found=e._splits=e._values=null,e._size>0&&(zn[t]=!0,e._el=Be(ie,f))}}function Vn(e,t,n,r){let[i,a,o,s]=n,c=t%2,l=0;return c==0&&(s||a)&&(l=t==0&&!i||t==2&&!o?yt(Cr.size/3):0),c==1&&(i||o)&&(l=t==1&&!a||t==3&&!s?yt(zr.size/2):0),l}let Hn=r.padding=(e.padding||[Vn,Vn,Vn,Vn]).map(e=>Nt(ut(e,Vn))),Un=r._padding=Hn.map((e,t)=>e(r,t,zn,0)),Wn,er=null,ir=null,ar=i==1?v[0].idxs:null,sr=null,cr=!1;function lr(e,n){if(t=e??[],r.data=r._data=t,i==2){Wn=0;for(let e=1;e<v.length;e++)Wn+=t[e][0].length}else{t.length==0&&(r.data=r._data=t=[[]]),sr=t[0],Wn=sr.length;let e=t;if(O==2){e=t.slice();let n=e[0]=Array(Wn);for(let e=0;e<Wn;e++)n[e]=e}r._data=t=e}if(li(!0),Ia(`setData`),O==2&&(mn=!0),n!==!1){let e=D;e.auto(r,cr)?ur():$i(S,e.min,e.max),hn||=B.left>=0,_n=!0,mi()}}r.setData=lr;function ur(){cr=!0;let e,n;i==1&&(Wn>0?(er=ar[0]=0,ir=ar[1]=Wn-1,e=t[0][er],n=t[0][ir],O==2?(e=er,n=ir):e==n&&(O==3?[e,n]=rt(e,e,D.log,!1):O==4?[e,n]=it(e,e,D.log,!1):D.time?n=e+yt(86400/_):[e,n]=lt(e,n,at,!0))):(er=ar[0]=e=null,ir=ar[1]=n=null)),$i(S,e,n)}let dr,fr,pr,mr,gr,_r,vr,yr,br,xr;function Sr(e,t,n,r,i,a){e??=Ce,n??=Jt,r??=`butt`,i??=Ce,a??=`round`,e!=dr&&(d.strokeStyle=dr=e),i!=fr&&(d.fillStyle=fr=i),t!=pr&&(d.lineWidth=pr=t),a!=gr&&(d.lineJoin=gr=a),r!=_r&&(d.lineCap=_r=r),n!=mr&&d.setLineDash(mr=n)}function jr(e,t,n,r){t!=fr&&(d.fillStyle=fr=t),e!=vr&&(d.font=vr=e),n!=yr&&(d.textAlign=yr=n),r!=br&&(d.textBaseline=br=r)}function Mr(e,t,n,i,a=0){if(i.length>0&&e.auto(r,cr)&&(t==null||t.min==null)){let t=ut(er,0),r=ut(ir,i.length-1),o=n.min==null?nt(i,t,r,a,e.distr==3):[n.min,n.max];e.min=xt(e.min,n.min=o[0]),e.max=St(e.max,n.max=o[1])}}let Nr={min:null,max:null};function Pr(){for(let e in b){let t=b[e];I[e]==null&&(t.min==null||I[S]!=null&&t.auto(r,cr))&&(I[e]=Nr)}for(let e in b){let t=b[e];I[e]==null&&t.from!=null&&I[t.from]!=null&&(I[e]=Nr)}I[S]!=null&&li(!0);let e={};for(let t in I){let n=I[t];if(n!=null){let a=e[t]=an(b[t],tn);if(n.min!=null)on(a,n);else if(t!=S||i==2){if(Wn==0&&a.from==null){let e=a.range(r,null,null,t);a.min=e[0],a.max=e[1]}else a.min=kt,a.max=-1/0}}}if(Wn>0){v.forEach((n,a)=>{if(i==1){let i=n.scale,o=I[i];if(o==null)return;let s=e[i];if(a==0){let e=s.range(r,s.min,s.max,i);s.min=e[0],s.max=e[1],er=Xe(s.min,t[0]),ir=Xe(s.max,t[0]),ir-er>1&&(t[0][er]<s.min&&er++,t[0][ir]>s.max&&ir--),n.min=sr[er],n.max=sr[ir]}else n.show&&n.auto&&Mr(s,o,n,t[a],n.sorted);n.idxs[0]=er,n.idxs[1]=ir}else if(a>0&&n.show&&n.auto){let[r,i]=n.facets,o=r.scale,s=i.scale,[c,l]=t[a],u=e[o],d=e[s];u!=null&&Mr(u,I[o],r,c,r.sorted),d!=null&&Mr(d,I[s],i,l,i.sorted),n.min=i.min,n.max=i.max}});for(let t in e){let n=e[t],i=I[t];if(n.from==null&&(i==null||i.min==null)){let e=n.range(r,n.min==kt?null:n.min,n.max==-1/0?null:n.max,t);n.min=e[0],n.max=e[1]}}}for(let t in e){let n=e[t];if(n.from!=null){let i=e[n.from];if(i.min==null)n.min=n.max=null;else{let e=n.range(r,i.min,i.max,t);n.min=e[0],n.max=e[1]}}}let n={},a=!1;for(let t in e){let r=e[t],i=b[t];if(i.min!=r.min||i.max!=r.max){i.min=r.min,i.max=r.max;let e=i.distr;i._min=e==3?Tt(i.min):e==4?Ot(i.min,i.asinh):e==100?i.fwd(i.min):i.min,i._max=e==3?Tt(i.max):e==4?Ot(i.max,i.asinh):e==100?i.fwd(i.max):i.max,n[t]=a=!0}}if(a){v.forEach((e,t)=>{i==2?t>0&&n.y&&(e._paths=null):n[e.scale]&&(e._paths=null)});for(let e in n)mn=!0,Ia(`setScale`,e);Ke&&B.left>=0&&(hn=_n=!0)}for(let e in I)I[e]=null}function Fr(e){let t=jt(er-1,0,Wn-1),n=jt(ir+1,0,Wn-1);for(;e[t]==null&&t>0;)t--;for(;e[n]==null&&n<Wn-1;)n++;return[t,n]}function Vr(){if(Wn>0){let e=v.some(e=>e._focus)&&xr!=Dn.alpha;e&&(d.globalAlpha=xr=Dn.alpha),v.forEach((e,n)=>{if(n>0&&e.show&&(Hr(n,!1),Hr(n,!0),e._paths==null)){let a=xr;xr!=e.alpha&&(d.globalAlpha=xr=e.alpha);let o=i==2?[0,t[n][0].length-1]:Fr(t[n]);e._paths=e.paths(r,n,o[0],o[1]),xr!=a&&(d.globalAlpha=xr=a)}}),v.forEach((e,t)=>{if(t>0&&e.show){let n=xr;xr!=e.alpha&&(d.globalAlpha=xr=e.alpha),e._paths!=null&&Ur(t,!1);{let n=e._paths==null?null:e._paths.gaps,i=e.points.show(r,t,er,ir,n),a=e.points.filter(r,t,i,n);(i||a)&&(e.points._paths=e.points.paths(r,t,er,ir,a),Ur(t,!0))}xr!=n&&(d.globalAlpha=xr=n),Ia(`drawSeries`,t)}}),e&&(d.globalAlpha=xr=1)}}function Hr(e,t){let n=t?v[e].points:v[e];n._stroke=n.stroke(r,e),n._fill=n.fill(r,e)}function Ur(e,t){let n=t?v[e].points:v[e],{stroke:r,fill:i,clip:a,flags:o,_stroke:s=n._stroke,_fill:c=n._fill,_width:l=n.width}=n._paths;l=Ut(l*z,3);let u=null,f=l%2/2;t&&c==null&&(c=l>0?`#fff`:s);let p=n.pxAlign==1&&f>0;if(p&&d.translate(f,f),!t){let e=sn-l/2,t=cn-l/2,n=ln+l,r=un+l;u=new Path2D,u.rect(e,t,n,r)}t?$r(s,l,n.dash,n.cap,c,r,i,o,a):Yr(e,s,l,n.dash,n.cap,c,r,i,o,u,a),p&&d.translate(-f,-f)}function Yr(e,n,i,a,o,s,c,l,u,d,f){let p=!1;u!=0&&x.forEach((m,h)=>{if(m.series[0]==e){let e=v[m.series[1]],g=t[m.series[1]],_=(e._paths||qt).band;Xt(_)&&(_=m.dir==1?_[0]:_[1]);let y,b=null;e.show&&_&&dt(g,er,ir)?(b=m.fill(r,h)||s,y=e._paths.clip):_=null,$r(n,i,a,o,b,c,l,u,d,f,y,_),p=!0}}),p||$r(n,i,a,o,s,c,l,u,d,f)}function $r(e,t,n,r,i,a,o,s,c,l,u,f){Sr(e,t,n,r,i),(c||l||f)&&(d.save(),c&&d.clip(c),l&&d.clip(l)),f?(s&3)==3?(d.clip(f),u&&d.clip(u),ni(i,o),ei(e,a,t)):s&Qr?(ni(i,o),d.clip(f),ei(e,a,t)):s&Zr&&(d.save(),d.clip(f),u&&d.clip(u),ni(i,o),d.restore(),ei(e,a,t)):(ni(i,o),ei(e,a,t)),(c||l||f)&&d.restore()}function ei(e,t,n){n>0&&(t instanceof Map?t.forEach((e,t)=>{d.strokeStyle=dr=t,d.stroke(e)}):t!=null&&e&&d.stroke(t))}function ni(e,t){t instanceof Map?t.forEach((e,t)=>{d.fillStyle=fr=t,d.fill(e)}):t!=null&&e&&d.fill(t)}function ri(e,t,n,i){let a=y[e],o;if(i<=0)o=[0,0];else{let s=a._space=a.space(r,e,t,n,i);o=Ui(t,n,a._incrs=a.incrs(r,e,t,n,i,s),i,s)}return a._found=o}function ii(e,t,n,r,i,a,o,s,c,l){let u=o%2/2;h==1&&d.translate(u,u),Sr(s,o,c,l,s),d.beginPath();let f,p,m,g,_=i+(r==0||r==3?-a:a);n==0?(p=i,g=_):(f=i,m=_);for(let r=0;r<e.length;r++)t[r]!=null&&(n==0?f=m=e[r]:p=g=e[r],d.moveTo(f,p),d.lineTo(m,g));d.stroke(),h==1&&d.translate(-u,-u)}function ai(e){let t=!0;return y.forEach((n,i)=>{if(!n.show)return;let a=b[n.scale];if(a.min==null){n._show&&(t=!1,n._show=!1,li(!1));return}n._show||(t=!1,n._show=!0,li(!1));let o=n.side,s=o%2,{min:c,max:l}=a,[u,d]=ri(i,c,l,s==0?V:H);if(d==0)return;let f=a.distr==2,p=n._splits=n.splits(r,i,c,l,u,d,f),m=a.distr==2?p.map(e=>sr[e]):p,h=a.distr==2?sr[p[1]]-sr[p[0]]:u,g=n._values=n.values(r,n.filter(r,m,i,d,h),i,d,h);n._rotate=o==2?n.rotate(r,g,i,d):0;let _=n._size;n._size=bt(n.size(r,g,i,e)),_!=null&&n._size!=_&&(t=!1)}),t}function si(e){let t=!0;return Hn.forEach((n,i)=>{let a=n(r,i,zn,e);a!=Un[i]&&(t=!1),Un[i]=a}),t}function ci(){for(let e=0;e<y.length;e++){let t=y[e];if(!t.show||!t._show)continue;let n=t.side,i=n%2,a,o,c=t.stroke(r,e),l=n==0||n==3?-1:1,[u,f]=t._found;if(t.label!=null){let s=t.labelGap*l,p=yt((t._lpos+s)*z);jr(t.labelFont[0],c,`center`,n==2?ve:ye),d.save(),i==1?(a=o=0,d.translate(p,yt(cn+un/2)),d.rotate((n==3?-gt:gt)/2)):(a=yt(sn+ln/2),o=p);let m=Mt(t.label)?t.label(r,e,u,f):t.label;d.fillText(m,a,o),d.restore()}if(f==0)continue;let p=b[t.scale],m=i==0?ln:un,h=i==0?sn:cn,_=t._splits,v=p.distr==2?_.map(e=>sr[e]):_,x=p.distr==2?sr[_[1]]-sr[_[0]]:u,S=t.ticks,C=t.border,w=S.show?S.size:0,T=yt(w*z),E=yt((t.alignTo==2?t._size-w-t.gap:t.gap)*z),D=t._rotate*-gt/180,O=g(t._pos*z),k=O+(T+E)*l;o=i==0?k:0,a=i==1?k:0;let A=t.font[0];jr(A,c,t.align==1?be:t.align==2?xe:D>0?be:D<0?xe:i==0?`center`:n==3?xe:be,D||i==1?`middle`:n==2?ve:ye);let j=t.font[1]*t.lineGap,ee=_.map(e=>g(s(e,p,m,h))),M=t._values;for(let e=0;e<M.length;e++){let t=M[e];if(t!=null){i==0?a=ee[e]:o=ee[e],t=``+t;let n=t.indexOf(`
`)==-1?[t]:t.split(/\n/gm);for(let e=0;e<n.length;e++){let t=n[e];D?(d.save(),d.translate(a,o+e*j),d.rotate(D),d.fillText(t,0,0),d.restore()):d.fillText(t,a,o+e*j)}}}S.show&&ii(ee,S.filter(r,v,e,f,x),i,n,O,T,Ut(S.width*z,3),S.stroke(r,e),S.dash,S.cap);let te=t.grid;te.show&&ii(ee,te.filter(r,v,e,f,x),i,i==0?2:1,i==0?cn:sn,i==0?un:ln,Ut(te.width*z,3),te.stroke(r,e),te.dash,te.cap),C.show&&ii([O],[1],+(i==0),i==0?1:2,i==1?cn:sn,i==1?un:ln,Ut(C.width*z,3),C.stroke(r,e),C.dash,C.cap)}Ia(`drawAxes`)}function li(e){v.forEach((t,n)=>{n>0&&(t._paths=null,e&&(i==1?(t.min=null,t.max=null):t.facets.forEach(e=>{e.min=null,e.max=null})))})}let ui=!1,di=!1,fi=[];function pi(){di=!1;for(let e=0;e<fi.length;e++)Ia(...fi[e]);fi.length=0}function mi(){ui||=(fn(gi),!0)}function hi(e,t=!1){ui=!0,di=t,e(r),gi(),t&&fi.length>0&&queueMicrotask(pi)}r.batch=hi;function gi(){if(dn&&=(Pr(),!1),mn&&=(bn(),!1),pn){if(Re(p,be,Vt),Re(p,ve,Ht),Re(p,ge,V),Re(p,_e,H),Re(m,be,Vt),Re(m,ve,Ht),Re(m,ge,V),Re(m,_e,H),Re(f,ge,Pt),Re(f,_e,Ft),u.width=yt(Pt*z),u.height=yt(Ft*z),y.forEach(({_el:e,_show:t,_size:n,_pos:r,side:i})=>{if(e!=null){if(t){let t=i===3||i===0?n:0,a=i%2==1;Re(e,a?`left`:`top`,r-t),Re(e,a?`width`:`height`,n),Re(e,a?`top`:`left`,a?Ht:Vt),Re(e,a?`height`:`width`,a?H:V),Le(e,ae)}else Ie(e,ae)}}),dr=fr=pr=gr=_r=vr=yr=br=mr=null,xr=1,ba(!0),Vt!=Kt||Ht!=Zt||V!=nn||H!=rn){li(!1);let e=V/nn,t=H/rn;if(Ke&&!hn&&B.left>=0){B.left*=e,B.top*=t,bi&&He(bi,yt(B.left),0,V,H),xi&&He(xi,0,yt(B.top),V,H);for(let n=0;n<An.length;n++){let r=An[n];r!=null&&(Nn[n]*=e,Pn[n]*=t,He(r,bt(Nn[n]),bt(Pn[n]),V,H))}}if(Yi.show&&!gn&&Yi.left>=0&&Yi.width>0){Yi.left*=e,Yi.width*=e,Yi.top*=t,Yi.height*=t;for(let e in Ca)Re(Xi,e,Yi[e])}Kt=Vt,Zt=Ht,nn=V,rn=H}Ia(`setSize`),pn=!1}Pt>0&&Ft>0&&(d.clearRect(0,0,u.width,u.height),Ia(`drawClear`),w.forEach(e=>e()),Ia(`draw`)),Yi.show&&gn&&(Zi(Yi),gn=!1),Ke&&hn&&(va(null,!0,!1),hn=!1),Ve.show&&Ve.live&&_n&&(ga(),_n=!1),c||(c=!0,r.status=1,Ia(`ready`)),cr=!1,ui=!1}r.redraw=(e,t)=>{mn=t||!1,e===!1?mi():$i(S,D.min,D.max)};function _i(e,n){let i=b[e];if(i.from==null){if(Wn==0){let t=i.range(r,n.min,n.max,e);n.min=t[0],n.max=t[1]}if(n.min>n.max){let e=n.min;n.min=n.max,n.max=e}if(Wn>1&&n.min!=null&&n.max!=null&&n.max-n.min<1e-16)return;e==S&&i.distr==2&&Wn>0&&(n.min=Xe(n.min,t[0]),n.max=Xe(n.max,t[0]),n.min==n.max&&n.max++),I[e]=n,dn=!0,mi()}}r.setScale=_i;let vi,yi,bi,xi,Si,Ci,wi,Ti,Ei,Di,Oi,Ai,Ki=!1,qi=B.drag,U=qi.x,Ji=qi.y;Ke&&(B.x&&(vi=Be(se,m)),B.y&&(yi=Be(ce,m)),D.ori==0?(bi=vi,xi=yi):(bi=yi,xi=vi),Oi=B.left,Ai=B.top);let Yi=r.select=on({show:!0,over:!0,left:0,width:0,top:0,height:0},e.select),Xi=Yi.show?Be(oe,Yi.over?m:p):null;function Zi(e,t){if(Yi.show){for(let t in e)Yi[t]=e[t],t in Ca&&Re(Xi,t,e[t]);t!==!1&&Ia(`setSelect`)}}r.setSelect=Zi;function Qi(e){if(v[e].show)We&&Le(et[e],ae);else if(We&&Ie(et[e],ae),Ke){let t=kn?An[0]:An[e];t!=null&&He(t,-10,-10,V,H)}}function $i(e,t,n){_i(e,{min:t,max:n})}function ea(e,t,n,a){t.focus!=null&&ca(e),t.show!=null&&v.forEach((n,r)=>{r>0&&(e==r||e==null)&&(n.show=t.show,Qi(r),i==2?($i(n.facets[0].scale,null,null),$i(n.facets[1].scale,null,null)):$i(n.scale,null,null),mi())}),n!==!1&&Ia(`setSeries`,e,t),a&&Va(`setSeries`,r,e,t)}r.setSeries=ea;function ta(e,t){on(x[e],t)}function na(e,t){e.fill=Nt(e.fill||null),e.dir=ut(e.dir,-1),t??=x.length,x.splice(t,0,e)}function ra(e){e==null?x.length=0:x.splice(e,1)}r.addBand=na,r.setBand=ta,r.delBand=ra;function ia(e,t){v[e].alpha=t,Ke&&An[e]!=null&&(An[e].style.opacity=t),We&&et[e]&&(et[e].style.opacity=t)}let aa,oa,W,sa={focus:!0};function ca(e){if(e!=W){let t=e==null,n=Dn.alpha!=1;v.forEach((r,a)=>{if(i==1||a>0){let i=t||a==0||a==e;r._focus=t?null:i,n&&ia(a,i?1:Dn.alpha)}}),W=e,n&&mi()}}We&&On&&Et(De,Ze,e=>{B._lock||(Tn(e),W!=null&&ea(null,sa,!0,Ra.setSeries))});function la(e,t,n){let r=b[t];n&&(e=e/z-(r.ori==1?Ht:Vt));let i=V;r.ori==1&&(i=H,e=i-e),r.dir==-1&&(e=i-e);let a=r._min,o=r._max,s=e/i,c=a+(o-a)*s,l=r.distr;return l==3?Ct(10,c):l==4?Dt(c,r.asinh):l==100?r.bwd(c):c}function ua(e,n){return Xe(la(e,S,n),t[0],er,ir)}r.valToIdx=e=>Xe(e,t[0]),r.posToIdx=ua,r.posToVal=la,r.valToPos=(e,t,n)=>b[t].ori==0?a(e,b[t],n?ln:V,n?sn:0):o(e,b[t],n?un:H,n?cn:0),r.setCursor=(e,t,n)=>{Oi=e.left,Ai=e.top,va(null,t,n)};function da(e,t){Re(Xi,be,Yi.left=e),Re(Xi,ge,Yi.width=t)}function fa(e,t){Re(Xi,ve,Yi.top=e),Re(Xi,_e,Yi.height=t)}let pa=D.ori==0?da:fa,ma=D.ori==1?da:fa;function ha(){if(We&&Ve.live)for(let e=+(i==2);e<v.length;e++){if(e==0&&ct)continue;let t=Ve.values[e],n=0;for(let r in t)tt[e][n++].firstChild.nodeValue=t[r]}}function ga(e,t){if(e!=null&&(e.idxs?e.idxs.forEach((e,t)=>{Fe[t]=e}):Qt(e.idx)||Fe.fill(e.idx),Ve.idx=Fe[0]),We&&Ve.live){for(let e=0;e<v.length;e++)(e>0||i==1&&!ct)&&_a(e,Fe[e]);ha()}_n=!1,t!==!1&&Ia(`setLegend`)}r.setLegend=ga;function _a(e,n){let i=v[e],a=e==0&&O==2?sr:t[e],o;ct?o=i.values(r,e,n)??ft:(o=i.value(r,n==null?null:a[n],e,n),o=o==null?ft:{_:o}),Ve.values[e]=o}function va(e,n,a){Ei=Oi,Di=Ai,[Oi,Ai]=B.move(r,Oi,Ai),B.left=Oi,B.top=Ai,Ke&&(bi&&He(bi,yt(Oi),0,V,H),xi&&He(xi,0,yt(Ai),V,H));let o,s=er>ir;aa=kt,oa=null;let c=D.ori==0?V:H,l=D.ori==1?V:H;if(Oi<0||Wn==0||s){o=B.idx=null;for(let e=0;e<v.length;e++){let t=An[e];t!=null&&He(t,-10,-10,V,H)}On&&ea(null,sa,!0,e==null&&Ra.setSeries),Ve.live&&(Fe.fill(o),_n=!0)}else{let e,n,a;i==1&&(e=D.ori==0?Oi:Ai,n=la(e,S),o=B.idx=Xe(n,t[0],er,ir),a=k(t[0][o],D,c,0));let s=-10,u=-10,d=0,f=0,p=!0,m=``,h=``;for(let e=+(i==2);e<v.length;e++){let g=v[e],_=Fe[e],y=_==null?null:i==1?t[e][_]:t[e][1][_],x=B.dataIdx(r,e,o,n),S=x==null?null:i==1?t[e][x]:t[e][1][x];if(_n=_n||S!=y||x!=_,Fe[e]=x,e>0&&g.show){let n=x==null?-10:x==o?a:k(i==1?t[0][x]:t[e][0][x],D,c,0),_=S==null?-10:Se(S,i==1?b[g.scale]:b[g.facets[1].scale],l,0);if(On&&S!=null){let t=D.ori==1?Oi:Ai,n=_t(Dn.dist(r,e,x,_,t));if(n<aa){let r=Dn.bias;if(r!=0){let i=la(t,g.scale),a=S>=0?1:-1,o=i>=0?1:-1;o==a&&(o==1?r==1?S>=i:S<=i:r==1?S<=i:S>=i)&&(aa=n,oa=e)}else aa=n,oa=e}}if(_n||kn){let t,i;D.ori==0?(t=n,i=_):(t=_,i=n);let a,o,c,l,g,v,y=!0,b=En.bbox;if(b!=null){y=!1;let t=b(r,e);c=t.left,l=t.top,a=t.width,o=t.height}else c=t,l=i,a=o=En.size(r,e);if(v=En.fill(r,e),g=En.stroke(r,e),kn)e==oa&&aa<=Dn.prox&&(s=c,u=l,d=a,f=o,p=y,m=v,h=g);else{let t=An[e];t!=null&&(Nn[e]=c,Pn[e]=l,Ge(t,a,o,y),Ue(t,v,g),He(t,bt(c),bt(l),V,H))}}}}if(kn){let e=Dn.prox;if(_n||(W==null?aa<=e:aa>e||oa!=W)){let e=An[0];e!=null&&(Nn[0]=s,Pn[0]=u,Ge(e,d,f,p),Ue(e,m,h),He(e,bt(s),bt(u),V,H))}}}if(Yi.show&&Ki){if(e!=null){let[t,n]=Ra.scales,[r,i]=Ra.match,[a,o]=e.cursor.sync.scales,s=e.cursor.drag;if(U=s._x,Ji=s._y,U||Ji){let{left:s,top:u,width:d,height:f}=e.select,p=e.scales[a].ori,m=e.posToVal,h,g,_,v,y,x=t!=null&&r(t,a),S=n!=null&&i(n,o);x&&U?(p==0?(h=s,g=d):(h=u,g=f),_=b[t],v=k(m(h,a),_,c,0),y=k(m(h+g,a),_,c,0),pa(xt(v,y),_t(y-v))):pa(0,c),S&&Ji?(p==1?(h=s,g=d):(h=u,g=f),_=b[n],v=Se(m(h,o),_,l,0),y=Se(m(h+g,o),_,l,0),ma(xt(v,y),_t(y-v))):ma(0,l)}else wa()}else{let e=_t(Ei-Si),t=_t(Di-Ci);if(D.ori==1){let n=e;e=t,t=n}U=qi.x&&e>=qi.dist,Ji=qi.y&&t>=qi.dist;let n=qi.uni;n==null?qi.x&&qi.y&&(U||Ji)&&(U=Ji=!0):U&&Ji&&(U=e>=n,Ji=t>=n,!U&&!Ji&&(t>e?Ji=!0:U=!0));let r,i;U&&(D.ori==0?(r=wi,i=Oi):(r=Ti,i=Ai),pa(xt(r,i),_t(i-r)),Ji||ma(0,l)),Ji&&(D.ori==1?(r=wi,i=Oi):(r=Ti,i=Ai),ma(xt(r,i),_t(i-r)),U||pa(0,c)),!U&&!Ji&&(pa(0,0),ma(0,0))}}if(qi._x=U,qi._y=Ji,e==null){if(a){if(za!=null){let[e,t]=Ra.scales;Ra.values[0]=e==null?null:la(D.ori==0?Oi:Ai,e),Ra.values[1]=t==null?null:la(D.ori==1?Oi:Ai,t)}Va(we,r,Oi,Ai,V,H,o)}if(On){let e=a&&Ra.setSeries,t=Dn.prox;W==null?aa<=t&&ea(oa,sa,!0,e):aa>t?ea(null,sa,!0,e):oa!=W&&ea(oa,sa,!0,e)}}_n&&(Ve.idx=o,ga()),n!==!1&&Ia(`setCursor`)}let ya=null;Object.defineProperty(r,"rect",{get(){return ya??ba(!1),ya}});function ba(e=!1){e?ya=null:(ya=m.getBoundingClientRect(),Ia(`syncRect`,ya))}function xa(e,t,n,r,i,a,o){B._lock||Ki&&e!=null&&e.movementX==0&&e.movementY==0||(Sa(e,t,n,r,i,a,o,!1,e!=null),e==null?va(t,!0,!1):va(null,!0,!0))}function Sa(e,t,n,i,a,o,c,l,u){if(ya??ba(!1),Tn(e),e!=null)n=e.clientX-ya.left,i=e.clientY-ya.top;else{if(n<0||i<0){Oi=-10,Ai=-10;return}let[e,r]=Ra.scales,c=t.cursor.sync,[l,u]=c.values,[d,f]=c.scales,[p,m]=Ra.match,h=t.axes[0].side%2==1,g=D.ori==0?V:H,_=D.ori==1?V:H,v=h?o:a,y=h?a:o,x=h?i:n,S=h?n:i;if(n=d==null?x/v*g:p(e,d)?s(l,b[e],g,0):-10,i=f==null?S/y*_:m(r,f)?s(u,b[r],_,0):-10,D.ori==1){let e=n;n=i,i=e}}u&&(t==null||t.cursor.event.type==we)&&((n<=1||n>=V-1)&&(n=Bt(n,V)),(i<=1||i>=H-1)&&(i=Bt(i,H))),l?(Si=n,Ci=i,[wi,Ti]=B.move(r,n,i)):(Oi=n,Ai=i)}let Ca={width:0,height:0,left:0,top:0};function wa(){Zi(Ca,!1)}let Ta,Ea,Da,Oa;function ka(e,t,n,i,a,o,s){Ki=!0,U=Ji=qi._x=qi._y=!1,Sa(e,t,n,i,a,o,s,!0,!1),e!=null&&(Et(Te,je,Aa,!1),Va(P,r,wi,Ti,V,H,null));let{left:c,top:l,width:u,height:d}=Yi;Ta=c,Ea=l,Da=u,Oa=d}function Aa(e,t,n,i,a,o,s){Ki=qi._x=qi._y=!1,Sa(e,t,n,i,a,o,s,!1,!0);let{left:c,top:l,width:u,height:d}=Yi,f=u>0||d>0,p=Ta!=c||Ea!=l||Da!=u||Oa!=d;if(f&&p&&Zi(Yi),qi.setScale&&f&&p){let e=c,t=u,n=l,r=d;if(D.ori==1&&(e=l,t=d,n=c,r=u),U&&$i(S,la(e,S),la(e+t,S)),Ji)for(let e in b){let t=b[e];e!=S&&t.from==null&&t.min!=kt&&$i(e,la(n+r,e),la(n,e))}wa()}else B.lock&&(B._lock=!B._lock,va(t,!0,e!=null));e!=null&&(At(Te,je),Va(Te,r,Oi,Ai,V,H,null))}function ja(e,t,n,r,i,a,o){if(B._lock)return;Tn(e);let s=Ki;if(Ki){let e=!0,t=!0,n,r;D.ori==0?(n=U,r=Ji):(n=Ji,r=U),n&&r&&(e=Oi<=10||Oi>=V-10,t=Ai<=10||Ai>=H-10),n&&e&&(Oi=Oi<wi?0:V),r&&t&&(Ai=Ai<Ti?0:H),va(null,!0,!0),Ki=!1}Oi=-10,Ai=-10,Fe.fill(null),va(null,!0,!0),s&&(Ki=s)}function Ma(e,t,n,i,a,o,s){B._lock||(Tn(e),ur(),wa(),e!=null&&Va(F,r,Oi,Ai,V,H,null))}function Na(){y.forEach(Gi),vn(r.width,r.height,!0)}Je(Oe,Me,Na);let Pa={};Pa.mousedown=ka,Pa.mousemove=xa,Pa.mouseup=Aa,Pa.dblclick=Ma,Pa.setSeries=(e,t,n,i)=>{let a=Ra.match[2];n=a(r,t,n),n!=-1&&ea(n,i,!0,!1)},Ke&&(Et(P,m,ka),Et(we,m,xa),Et(Ee,m,e=>{Tn(e),ba(!1)}),Et(De,m,ja),Et(F,m,Ma),ki.add(r),r.syncRect=ba);let Fa=r.hooks=e.hooks||{};function Ia(e,t,n){di?fi.push([e,t,n]):e in Fa&&Fa[e].forEach(e=>{e.call(null,r,t,n)})}(e.plugins||[]).forEach(e=>{for(let t in e.hooks)Fa[t]=(Fa[t]||[]).concat(e.hooks[t])});let La=(e,t,n)=>n,Ra=on({key:null,setSeries:!1,filters:{pub:Rt,sub:Rt},scales:[S,v[1]?v[1].scale:null],match:[zt,zt,La],values:[null,null]},B.sync);Ra.match.length==2&&Ra.match.push(La),B.sync=Ra;let za=Ra.key,Ba=Xr(za);function Va(e,t,n,r,i,a,o){Ra.filters.pub(e,t,n,r,i,a,o)&&Ba.pub(e,t,n,r,i,a,o)}Ba.sub(r);function Ha(e,t,n,r,i,a,o){Ra.filters.sub(e,t,n,r,i,a,o)&&Pa[e](null,t,n,r,i,a,o)}r.pub=Ha;function Ua(){Ba.unsub(r),ki.delete(r),wt.clear(),Ye(Oe,Me,Na),l.remove(),Ze?.remove(),Ia(`destroy`)}r.destroy=Ua;function Wa(){Ia(`init`,e,t),lr(t||e.data,!1),I[S]?_i(S,I[S]):ur(),gn=Yi.show&&(Yi.width>0||Yi.height>0),hn=_n=!0,vn(e.width,e.height)}return v.forEach(In),y.forEach(Bn),n?n instanceof HTMLElement?(n.appendChild(l),Wa()):n(r,Wa):Wa(),r}Ki.assign=on,Ki.fmtNum=mt,Ki.rangeNum=lt,Ki.rangeLog=rt,Ki.rangeAsinh=it,Ki.orient=$r,Ki.pxRatio=z,Ki.join=dn,Ki.fmtDate=wn,Ki.tzDate=En,Ki.sync=Xr;{Ki.addGap=ii,Ki.clipGaps=ri;let e=Ki.paths={points:vi};e.linear=Si,e.stepped=Ci,e.bars=Ti,e.spline=Di}var qi=t({ago:()=>ta,digits:()=>U,hertz:()=>Zi,methodRank:()=>aa,pValue:()=>$i,percent:()=>Ji,plural:()=>ea,seconds:()=>Xi,shortNumber:()=>na,tickLabel:()=>ra,watts:()=>Qi});function U(e,t=3){if(!Number.isFinite(e))return`–`;if(e===0)return`0`;let n=Math.abs(Number(e.toPrecision(t)));if(n>=1e6||n<1e-4)return e.toExponential(Math.max(0,t-1)).replace(`e+`,`e`).replace(`-`,`−`);let r=Math.max(0,t-1-Math.floor(Math.log10(n)));return e.toFixed(Math.min(r,8)).replace(`-`,`−`)}var Ji=e=>`${U(100*Math.max(e,0),2)} %`,Yi=(e,t)=>Math.round(e/t)>=1e3;function Xi(e){return Yi(e,1e-6)?Yi(e,.001)?`${U(e)} s`:`${U(1e3*e)} ms`:`${U(1e6*e,2)} µs`}var Zi=e=>Yi(e,1e6)?`${U(e/1e9)} GHz`:`${U(e/1e6)} MHz`;function Qi(e){return Yi(e,.001)||e===0?`${U(e)} W`:Yi(e,1e-6)?`${U(1e3*e)} mW`:`${U(1e6*e)} µW`}function $i(e){return e===null?`–`:e<.001?`< 0.001`:e<.1?e.toFixed(3):e.toFixed(2)}var ea=(e,t)=>`${e} ${t}${e===1?``:`s`}`;function ta(e){let t=Math.max(0,Date.now()/1e3-e);return t<60?`now`:t<3600?`${Math.floor(t/60)} min ago`:t<86400?`${Math.floor(t/3600)} h ago`:new Date(e*1e3).toLocaleDateString()}var na=e=>Number.isInteger(e)?String(e):U(e,2);function ra(e){let t=Math.abs(e);if(t>=1e9)return String(Number(e.toPrecision(5))).replace(`e+`,`e`).replace(/^-/,`−`);let[n,r]=t>=1e6?[1e6,`M`]:t>=1e4?[1e3,`k`]:[1,``];return`${Number((e/n).toPrecision(5))}${r}`.replace(/^-/,`−`)}var ia=[`mission`,`sc-dn`],aa=e=>ia.includes(e)?ia.indexOf(e):ia.length,oa=new Set,W=e=>getComputedStyle(document.documentElement).getPropertyValue(`--${e}`).trim(),sa=()=>document.documentElement.dataset.theme===`dark`;function ca(e){oa.add(e)}function la(){let e=matchMedia(`(prefers-color-scheme: dark)`),t=()=>ua(localStorage.getItem(`theme`)??(e.matches?`dark`:`light`));e.addEventListener(`change`,t),t()}function ua(e){document.documentElement.dataset.theme=e,oa.forEach(e=>e())}function da(){let e=sa()?`light`:`dark`;localStorage.setItem(`theme`,e),ua(e)}var fa=8;function pa(e){let t=e=>e.replace(/-matched$/,``),n=new Set(e.map(t)).size>fa?e=>t(e).split(`, `)[0]:t,r=[...new Set(e.map(n))];return new Map(e.map(e=>[e,{colour:W(`method${r.indexOf(n(e))%fa}`),matched:e.endsWith(`-matched`)}]))}var ma=class{options;element=h(`div`,{class:`chart`});plot=null;drawn=``;marker=h(`div`,{class:`marker`,hidden:!0});markedX=null;zoomed=null;constructor(e){this.options=e,new ResizeObserver(()=>this.resize()).observe(this.element)}resize(){let e=this.element.clientWidth;this.plot&&e&&this.plot.setSize({width:e,height:this.options.height}),this.placeMarker()}show(e,t={}){Object.assign(this.options,t);let n=xa(this.options.logY?e.map(ya):e),r=JSON.stringify([e.map(e=>[e.label,e.colour,!!e.low,e.dash,e.width,e.x.length<2]),this.options,W(`ink`)]);this.plot&&r===this.drawn?this.plot.setData(n):(this.drawn=r,this.plot?.destroy(),this.plot=new Ki(this.settings(e),n,this.element),this.plot.over.append(this.marker)),this.applyZoom()}zoom(e){String(e)!==String(this.zoomed)&&(this.zoomed=e,e?this.applyZoom():this.plot&&this.plot.setData(this.plot.data))}applyZoom(){this.zoomed&&this.plot&&this.plot.setScale(`x`,{min:this.zoomed[0],max:this.zoomed[1]})}mark(e){this.markedX=e,this.placeMarker(),this.plot&&this.showRestingValues(this.plot)}showRestingValues(e,t=!1){let n=e.data[0];if(!e.legend.live||e.cursor.idx!=null||!n.length)return;let r=this.markedX===null?-1:n.findLastIndex(e=>e<=this.markedX),i=r<0?n.length-1:r;(e.legend.idxs?.[0]!==i||t)&&queueMicrotask(()=>e.setLegend({idxs:e.data.map(()=>i)},!1))}placeMarker(e=this.plot){let{min:t,max:n}=e?.scales.x??{},r=this.markedX===null||t==null||n==null||this.markedX<t||this.markedX>n;this.marker.hidden!==r&&(this.marker.hidden=r),r||(this.marker.style.transform=`translateX(${e.valToPos(this.markedX,`x`).toFixed(1)}px)`)}selectRange(e){let{left:t,width:n}=e.select;if(n<=0)return;let r=[e.posToVal(t,`x`),e.posToVal(t+n,`x`)];e.setSelect({left:0,top:0,width:0,height:0},!1),this.options.onZoom?.(r)}settings(e){let{x:t,y:n,height:r,range:i,fromZero:a,levels:o}=this.options,s={stroke:W(`muted`),font:`12px system-ui`,ticks:{show:!1},grid:{stroke:W(`grid`),width:1},labelFont:`12px system-ui`,labelSize:16},c=[{label:t,value:(e,t)=>t==null?`–`:na(t)}],l=[];for(let t of e){let e=c.length;if(c.push({label:t.label,stroke:t.colour,width:t.width??2,spanGaps:!t.gaps,dash:t.dash,points:{show:t.gaps?void 0:t.x.length<2,size:5},...t.step?{paths:Ki.paths.stepped({align:1})}:{},value:(e,n,r,i)=>ga(n??(t.gaps?null:ha(e.data[r],i)))}),t.low&&t.high){let n={show:!0,stroke:`transparent`,width:0,spanGaps:!0,points:{show:!1},class:`edge`,...t.step?{paths:Ki.paths.stepped({align:1})}:{}};c.push({...n,label:``},{...n,label:``}),l.push({series:[e+1,e+2],fill:`color-mix(in srgb, ${t.colour} 16%, transparent)`})}}let u=a?0:void 0;return{width:this.element.clientWidth||320,height:r,series:c,bands:l,scales:{x:{time:!1,distr:this.options.logX?3:1},y:this.options.logY?{distr:3,range:(e,t,n)=>va(t,n)}:{range:(e,t,n)=>_a(i,t,n,u,o)}},axes:[{...s,label:t,size:26,space:44,grid:{show:!1},incrs:this.options.rounds?[1,2,5,10,20,50,100,200,500,1e3]:void 0,values:(e,t)=>t.map(e=>e===null?``:ra(e))},{...s,size:48,space:34,label:n,values:(e,t)=>t.map(e=>e==null?``:ra(e))}],cursor:{y:!1,points:{size:6},drag:{x:!!this.options.onZoom,y:!1,setScale:!1,dist:4},bind:{dblclick:()=>()=>(this.options.onZoom?.(null),null)}},legend:{show:this.options.legend??!0},hooks:{draw:[e=>ba(e,o??[]),e=>this.placeMarker(e)],setCursor:[e=>this.showRestingValues(e)],setData:[e=>this.showRestingValues(e,!0)],setSelect:[e=>this.selectRange(e)]},padding:[8,o?.length?74:10,0,0]}}};function ha(e,t){return t===null||e.findLastIndex(e=>e!=null)<t?null:e[e.findLastIndex((e,n)=>n<t&&e!=null)]??null}var ga=e=>e===null?`–`:U(e,4);function _a(e,t,n,r,i=[]){if(e)return e;if(!Number.isFinite(t)||!Number.isFinite(n))return[0,1];let[a,o]=[Math.min(t,...i.map(e=>e.value)),Math.max(n,...i.map(e=>e.value))],s=.06*(o-a)||Math.abs(o)*.05||1;return[r??a-s,o+s]}function va(e,t){if(!(e>0)||!Number.isFinite(t))return[.1,1];let n=10**Math.floor(Math.log10(e));return[n*Math.floor(e/n*(1+1e-9)),t*1.15]}function ya(e){let t=e=>e!==null&&e>0?e:null,n=[...e.y,...e.low??[]].flatMap(e=>t(e)??[]),r=Math.min(...n),i=e=>e===null?null:Math.max(e,r);return{...e,y:e.y.map(t),low:e.low?.map(i),high:e.high?.map(i)}}function ba(e,t){let{ctx:n}=e;n.save(),n.font=`${11*devicePixelRatio}px system-ui`,n.textBaseline=`middle`,n.textAlign=`left`;for(let r of t){n.strokeStyle=n.fillStyle=W(r.target?`ink`:`faint`),n.lineWidth=(r.target?1.4:1)*devicePixelRatio,n.setLineDash((r.target?[8,4]:[2,4]).map(e=>e*devicePixelRatio));let t=e.valToPos(r.value,`y`,!0);n.beginPath(),n.moveTo(e.bbox.left,t),n.lineTo(e.bbox.left+e.bbox.width,t),n.stroke(),n.fillText(r.target?`target ${ra(r.value)}`:r.label,e.bbox.left+e.bbox.width+6*devicePixelRatio,e.valToPos(r.name_at,`y`,!0))}n.restore()}function xa(e){return e.length?Ki.join(e.map(e=>{let t=[e.y];return e.low&&e.high&&t.push(e.high,e.low),[e.x,...t]})):[[]]}var[Sa,Ca,wa,Ta]=[130,900,34,8];function Ea(e){let{methods:t,terms:n,totals:r}=e.ledger,i=Math.max(...r.map(e=>e.mean),1e-12),a=Ca-Sa-130,o=y(`svg`,{viewBox:`0 0 ${Ca} ${Ta+wa*t.length}`,class:`ledger`,role:`img`,"aria-label":t.map((e,t)=>`${e}: ${U(r[t].mean,4)} J`).join(`; `)});return t.forEach((e,t)=>{let s=Ta+wa*t;o.append(y(`text`,{x:Sa-12,y:s+17,"text-anchor":`end`,class:`who`},e));let c=Sa;for(let[r,l]of Object.entries(n)){let n=a*l[t]/i;o.append(y(`rect`,{x:c,y:s,width:Math.max(n-1,0),height:24,class:r},y(`title`,{},`${e}, ${Da(r)}: ${U(l[t],4)} J`))),c+=n}let l=r[t],u=l.std?` ± ${U(l.std,2)}`:``;o.append(y(`text`,{x:c+8,y:s+17,class:`total`},`${U(l.mean,4)}${u} J`))}),h(`div`,{},o,h(`div`,{class:`keys`},...Object.keys(n).map(e=>h(`span`,{class:`key ${e}`},h(`i`),Da(e)))))}var Da=e=>e.replaceAll(`_`,` `),Oa=class{query;constructor(e){this.query=e}links(e,t=null,n={}){return h(`span`,{class:`exports`},...e===null?[]:[`png`,`svg`].map(t=>ka(t.toUpperCase(),e,m.studyFile(t,{...this.query,figure:e,...n}),`${e}.${t}`)),t===null?null:ka(`CSV`,t,this.href(t),`${t}.csv`))}table(e){return h(`a`,{class:`button`,href:this.href(e),download:`${e}.csv`},`CSV of ${e}`)}href(e){return m.studyFile(`csv`,{...this.query,table:e})}},ka=(e,t,n,r)=>h(`a`,{class:`button`,href:n,download:r,"aria-label":`${e} of ${t}`},e),[Aa,ja,Ma]=[6.6,14,13];function Na(e,t,n,r){let i=[...r,...e.map(({x:e,y:t})=>({left:e-10,right:e+10,top:t-10,bottom:t+10}))],a=[];return e.forEach(({text:e,x:r,y:o})=>{let s=Aa*e.length,c=[[r+Ma,o-ja/2],[r-Ma-s,o-ja/2],[r-s/2,o-Ma-ja],[r-s/2,o+Ma]];for(let[r,o]of c){let c={left:r,top:o,right:r+s,bottom:o+ja};if(!(r<54||c.right>t-4||o<22||c.bottom>n-44||i.some(e=>Pa(c,e)))){i.push(c),a.push(y(`text`,{class:`name`,x:r.toFixed(1),y:(o+11).toFixed(1),"aria-hidden":`true`},e));return}}}),a}var Pa=(e,t)=>e.left<t.right&&t.left<e.right&&e.top<t.bottom&&t.top<e.bottom;function Fa(e,t,n,r){let[i,a]=r?La(e):Ia(e),o=r?Math.log10:e=>e,[s,c]=[o(i),o(a)],l=Math.max(2,Math.round(Math.abs(n-t)/70));return{at:e=>t+(n-t)*(o(e)-s)/(c-s),ticks:r?za(i,a,l):Ra(i,a,l)}}function Ia(e){let[t,n]=[Math.min(...e),Math.max(...e)],r=.08*(n-t)||.05*Math.abs(n)||1;return[t>=0&&t<r?0:t-r,n+r]}function La(e){let[t,n]=[Math.min(...e),Math.max(...e)],r=(n/t)**.08*1.05;return[t/r,n*r]}function Ra(e,t,n){let r=(t-e)/n,i=10**Math.floor(Math.log10(r)),a=i*([1,2,5,10].find(e=>e*i>=r)??10),o=[];for(let n=Math.ceil(e/a);n*a<=t+1e-9*a;n++)o.push(Number((n*a).toPrecision(12)));return o}function za(e,t,n){let r=(n,r=1)=>{let i=[];for(let a=Math.floor(Math.log10(e));a<=Math.ceil(Math.log10(t));a++)a%r===0&&i.push(...n.map(e=>Number((e*10**a).toPrecision(12))));return i.filter(n=>n>=e&&n<=t)};return[r([1,1.5,2,3,4,5,6,7,8,9]),r([1,2,5]),r([1,3]),r([1]),r([1],2)].find(e=>e.length<=n&&e.length>1)??Ra(e,t,n).filter(e=>e>0)}var Ba={joules:`J`,seconds:`s`},[Va,Ha,Ua,Wa]=[54,18,28,40],Ga=class{chosen;element=h(`figure`,{class:`card wide pareto`});plot=h(`div`,{class:`pareto-plot`});tip=h(`div`,{class:`pareto-tip`,hidden:!0,"aria-hidden":`true`});keys=h(`div`,{class:`pareto-keys`});title=h(`h3`);about=h(`small`);files=h(`span`);costs=[`joules`,`seconds`].map(e=>h(`button`,{type:`button`,onclick:()=>this.choose({...this.choice,cost:e,log:null})},`against ${e}`));logBox=h(`input`,{type:`checkbox`,onchange:()=>this.choose({...this.choice,log:this.logBox.checked})});study=null;exports=null;width=0;choice={cost:`joules`,log:null};constructor(e){this.chosen=e,g(this.element,h(`figcaption`,{},this.title,this.about,this.files),h(`div`,{class:`pareto-controls`},h(`span`,{role:`group`,"aria-label":`Cost`,class:`segments`},...this.costs),h(`label`,{},this.logBox,`Logarithmic costs`)),h(`div`,{class:`pareto-frame`},this.plot,this.tip),this.keys),this.plot.addEventListener(`keydown`,e=>this.moveFocus(e)),new ResizeObserver(()=>{this.plot.clientWidth!==this.width&&this.draw()}).observe(this.plot)}show(e,t,n){[this.study,this.exports,this.choice]=[e,t,n],this.draw()}choose(e){this.choice=e,this.draw(),this.chosen(e)}draw(){if(!this.study||!this.exports)return;let{pareto:e}=this.study,{cost:t}=this.choice,n=e.runs.map(e=>e[t]),r=n.length>0&&Math.min(...n)>0,i=r&&(this.choice.log??e.log_costs.includes(t));this.title.textContent=`Final ${e.label} against ${t}`,this.about.textContent=[`A small point is a run and opens it, a large one the mean of a method. Up and to the left is better:`.replace(`Up`,e.higher_is_better?`Up`:`Down`),`no method beats one on the grey front in both.`,...e.notes].join(` `),this.costs.forEach((e,n)=>e.setAttribute(`aria-pressed`,String([`joules`,`seconds`][n]===t))),[this.logBox.checked,this.logBox.disabled]=[i,!r],g(this.files,this.exports.links(`pareto_${t}`,`pareto`,{log:String(i)})),g(this.keys,...Xa(this.study,t)),this.element.dataset.cost=t,this.element.dataset.log=String(i),this.width=this.plot.clientWidth,this.tip.hidden=!0,g(this.plot,e.runs.length?this.picture(e,t,i):h(`p`,{},`No run has a score yet.`))}picture(e,t,n){let r=Math.max(260,this.width||640),i=Math.round(Math.min(440,Math.max(280,.5*r))),a=t===`joules`?e.bounds:[],o=[...e.runs,...e.means],s=Fa([...o.map(e=>e[t]),...a.map(e=>e.joules)],Va,r-Ha,n),c=Fa([...o.map(e=>e.score),...e.targets],i-Wa,Ua,!1),l=e.unit?` (${e.unit})`:``,u=y(`svg`,{width:r,height:i,viewBox:`0 0 ${r} ${i}`,role:`group`,"aria-label":`Final ${e.label} against ${t}. Arrow keys go from point to point, Enter opens a run.`});u.append(...Ja(s,c,r,i,`${e.label}${l}`,`${t} (${Ba[t]})`));let d=[];for(let t of e.targets)d.push({left:r-Ha-80,right:r-Ha,top:c.at(t)-16,bottom:c.at(t)+2}),u.append(y(`line`,{class:`target`,x1:Va,x2:r-Ha,y1:c.at(t),y2:c.at(t)}),y(`text`,{class:`note`,x:r-Ha,y:c.at(t)-5,"text-anchor":`end`},`target ${ra(t)}`));a.forEach((e,t)=>{let n=s.at(e.joules),a=n>r/2;d.push({left:a?Va:n,right:a?n:r,top:Ua+14*t,bottom:Ua+14*(t+1)}),u.append(y(`line`,{class:`bound`,x1:n,x2:n,y1:Ua,y2:i-Wa}),y(`text`,{class:`note`,x:n+(a?-5:5),y:Ua+10+14*t,"text-anchor":a?`end`:`start`},`bound of ${e.method}: ${U(e.joules,3)} J`))});let f=new Map(e.means.map(e=>[e.method,e]));for(let n of e.fronts.filter(e=>e.cost===t)){let[e,...r]=n.methods.map(e=>f.get(e)),i=r.map(e=>`H${s.at(e[t]).toFixed(1)}V${c.at(e.score).toFixed(1)}`);u.append(y(`path`,{class:`front`,d:`M${s.at(e[t]).toFixed(1)},${c.at(e.score).toFixed(1)}${i.join(``)}`}))}let p=[...o].sort((e,n)=>e[t]-n[t]||e.score-n.score),m=p.map((e,n)=>this.mark(e,s.at(e[t]),c.at(e.score),t,n===0));return u.append(...m.filter((e,t)=>p[t].seed!==null),...m.filter((e,t)=>p[t].seed===null)),this.marks=m,u.append(...Na(e.means.map(e=>({text:e.method,x:s.at(e[t]),y:c.at(e.score)})),r,i,d)),u}marks=[];mark(e,t,n,r,i){let a=this.study,{pareto:o}=a,s=e.seed===null,c=qa(e,o,r),l=y(`path`,{d:Ya(o.settings.indexOf(e.setting),s?9:5),transform:`translate(${t.toFixed(1)} ${n.toFixed(1)})`}),u=y(`circle`,{class:`reach`,cx:t.toFixed(1),cy:n.toFixed(1),r:s?12:9}),d={class:`point ${s?`mean`:`run-point`}${e.status===`done`?``:` hollow`}`,tabindex:i?0:-1,"aria-label":c},f=s?y(`g`,{...d,role:`img`},u,l):y(`a`,{...d,href:Ka(a.run_names[e.run])},u,l);f.style.setProperty(`--tone`,pa(a.methods).get(e.method).colour);let p=()=>this.showTip(c,t,n);for(let e of[`mouseenter`,`focus`])f.addEventListener(e,p);for(let e of[`mouseleave`,`blur`])f.addEventListener(e,()=>{this.tip.hidden=!0});return f}showTip(e,t,n){this.tip.textContent=e,this.tip.hidden=!1;let r=Math.max(0,Math.min(t-this.tip.offsetWidth/2,this.plot.clientWidth-this.tip.offsetWidth)),i=n-this.tip.offsetHeight-14;this.tip.style.transform=`translate(${r.toFixed(0)}px, ${(i>0?i:n+16).toFixed(0)}px)`}moveFocus(e){let t=this.marks.findIndex(e=>e===document.activeElement),n=this.marks.length-1,r={ArrowRight:Math.min(t+1,n),ArrowUp:Math.min(t+1,n),ArrowLeft:Math.max(t-1,0),ArrowDown:Math.max(t-1,0),Home:0,End:n}[e.key];t<0||r===void 0||(e.preventDefault(),this.marks[t].setAttribute(`tabindex`,`-1`),this.marks[r].setAttribute(`tabindex`,`0`),this.marks[r].focus())}},Ka=e=>`#run?run=${encodeURIComponent(e).replaceAll(`%2F`,`/`)}`;function qa(e,t,n){let r=t.unit?` ${t.unit}`:``,i=e.seed===null?`mean over seeds`:`seed ${e.seed}`,a=e.seed===null&&t.fronts.some(t=>t.cost===n&&t.methods.includes(e.method));return[`${e.method}, ${i}`,e.setting,`${t.label} ${U(e.score,4)}${r}`,`${U(e.joules,4)} J`,`${U(e.seconds,4)} s`,e.status===`done`?``:e.status,a?`on the Pareto front`:``].filter(Boolean).join(`; `)}function Ja(e,t,n,r,i,a){let o=r-Wa;return[...t.ticks.flatMap(e=>[y(`line`,{class:`grid`,x1:Va,x2:n-Ha,y1:t.at(e),y2:t.at(e)}),y(`text`,{x:Va-8,y:t.at(e)+4,"text-anchor":`end`},ra(e))]),...e.ticks.flatMap(t=>[y(`line`,{class:`grid`,x1:e.at(t),x2:e.at(t),y1:Ua,y2:o}),y(`text`,{x:e.at(t),y:o+16,"text-anchor":`middle`},ra(t))]),y(`text`,{x:4,y:14},i),y(`text`,{x:n-Ha,y:r-6,"text-anchor":`end`},a)]}function Ya(e,t){let n=[`M${-t},0a${t},${t} 0 1,0 ${2*t},0a${t},${t} 0 1,0 ${-2*t},0z`,`M0,${-1.15*t}L${1.1*t},${.85*t}H${-1.1*t}z`,`M${-.9*t},${-.9*t}h${1.8*t}v${1.8*t}h${-1.8*t}z`,`M0,${-1.2*t}L${1.2*t},0L0,${1.2*t}L${-1.2*t},0z`,`M0,${1.15*t}L${1.1*t},${-.85*t}H${-1.1*t}z`,`M${-.4*t},${-1.1*t}h${.8*t}v${.7*t}h${.7*t}v${.8*t}h${-.7*t}v${.7*t}h${-.8*t}v${-.7*t}h${-.7*t}v${-.8*t}h${.7*t}z`];return n[Math.max(0,e)%n.length]}function Xa(e,t){let{pareto:n}=e,r=pa(e.methods),i=(e,t)=>y(`svg`,{viewBox:`-10 -10 20 20`,width:14,height:14,"aria-hidden":`true`},y(`path`,{d:Ya(e,t)})),a=(e,t,n,...r)=>{let i=h(`span`,{class:`pareto-key ${t}`},...r,e);return i.style.setProperty(`--tone`,n),i},o=new Map([...n.runs].reverse().map(e=>[e.method,e])),s=e.methods.filter(e=>o.has(e)).map(e=>a(e,``,r.get(e).colour,i(n.settings.indexOf(o.get(e).setting),8)));return n.settings.length>1&&s.push(...n.settings.map((e,t)=>a(e,``,`var(--muted)`,i(t,8)))),n.fronts.some(e=>e.cost===t)&&s.push(a(`Pareto front of the means`,`front`,``,h(`i`))),n.targets.length&&s.push(a(`target`,`target`,``,h(`i`))),t===`joules`&&n.bounds.length&&s.push(a(`bound: no plan for a mission's progress needs less, the least over its seeds`,`bound`,``,h(`i`))),n.runs.some(e=>e.status!==`done`)&&s.push(a(`hollow: a run that is not done`,``,`var(--muted)`)),s}var Za=`too few seeds to tell`,Qa=6;function $a(e,t){let[n,r]=[e.measures.filter(e=>e.main),e.measures.filter(e=>!e.main)];return h(`section`,{class:`card results`,"aria-label":`Results`},h(`div`,{class:`results-top`},h(`p`,{class:`reading`},to(e)),h(`span`,{class:`exports`},t.table(`statistics`),e.targets.length?t.table(`targets`):null)),eo(no(e,n),`Results by method`),r.length?D(`Further measures`,!1,eo(no(e,r),`Further measures by method`)):null)}var eo=(e,t)=>h(`div`,{class:`scroll`,tabindex:0,role:`region`,"aria-label":t},e);function to(e){if(e.methods.length<2)return`There is one method, so nothing is compared.`;let t=e.measures.flatMap(e=>e.values.map(e=>e.verdict)).filter(e=>e!==null),n=`Below each value is the difference to ${e.reference}, paired by seed.`;return t.every(e=>e===Za)?`${n} All are grey: fewer than ${Qa} common seeds are too few to tell a difference from chance.`:`${n} ▲ green is better and ▼ red is worse by the exact sign-flip test at the 5 % level. Grey is no clear difference, or fewer than ${Qa} common seeds, which are too few to tell.`}function no(e,t){let n=pa(e.methods),r=t.map(e=>{let t=[e.unit,e.ranked?`median`:``].filter(Boolean).join(`, `);return h(`th`,{scope:`col`},e.label,t?h(`small`,{},` (${t})`):null)}),i=e.methods.map(r=>{let i=h(`i`,{class:`dot`});return i.style.background=n.get(r).colour,h(`tr`,{},h(`th`,{scope:`row`},i,r,h(`small`,{},r===e.reference?`reference`:ro(t,r))),...t.map(e=>io(e,r)))});return h(`table`,{class:`main-table`},h(`thead`,{},h(`tr`,{},h(`th`,{scope:`col`},`Method`),...r)),h(`tbody`,{},...i))}function ro(e,t){let n=e[0]?.values.find(e=>e.method===t)?.seeds??0;return`${n} seed${n===1?``:`s`}`}function io(e,t){let n=e.values.find(e=>e.method===t);if(!n)return h(`td`,{},`–`);let r=oo(n),i=n.mean??n.median,a=n.failed?`${e.failure} (${n.failed} of ${n.seeds})`:``,o=h(`b`,{},i===null?null:so(i,r),n.std===null?null:h(`span`,{},` ± ${so(n.std,r)}`),a?h(`span`,{class:`failed`},` ${a}`):null);return h(`td`,{title:n.low===null?``:`95 % interval of the difference: ${so(n.low,r)} … ${so(n.high,r)}; t-test, for illustration: p ${$i(n.p_t)}`},o,n.verdict===null?null:ao(e,n,r))}function ao(e,t,n){let r=t.verdict??``,i={better:`▲ `,worse:`▼ `}[r]??``,a=e.ranked?t.p_rank:t.p_flip,o=r===Za?r:`p ${$i(a)}${i?``:`, ${r}`}`,s=(t.mean??t.median)!==null&&t.difference!==null?`${t.difference>0?`+`:``}${so(t.difference,n)}`:``;return h(`small`,{class:i?r:`same`},i||s?h(`span`,{},`${i}${s}`):null,h(`span`,{},o))}function oo(e){return!e.std||e.mean===null||e.std<1e-9*Math.abs(e.mean)?null:Math.max(0,1-Math.floor(Math.log10(e.std)))}function so(e,t){return t===null||t>6||Math.abs(e)>=1e6?U(e,4):e.toFixed(t).replace(`-`,`−`)}var co=`target-message`,lo=class{element;input=h(`input`,{type:`text`,id:`target`,placeholder:`top3=95`,maxlength:400,size:18,autocomplete:`off`,spellcheck:`false`,autocapitalize:`off`,"aria-describedby":co});message=h(`p`,{id:co,role:`status`});constructor(e){this.element=h(`form`,{class:`bar top ask`,hidden:!0,"aria-label":`Target`,onsubmit:t=>{t.preventDefault(),e(this.targets())}},h(`label`,{for:`target`},`Cost to reach`),this.input,h(`button`,{type:`submit`,title:`Show the joules and seconds that it took to reach the target`},`Show`),this.message)}show(e){this.input.value=e.targets.join(`, `);let t=e.targets.map((t,n)=>`${t} is reached in ${e.runs.filter(e=>e.targets[n].reached).length} of ${ea(e.runs.length,`run`)}`);this.say(t.join(`; `)||`A metric and its value, such as top3=95; several with commas.`,!1),this.element.hidden=!1}refuse(e,t){this.targets().join()!==t.join()&&(this.input.value=t.join(`, `)),this.say(e.map(e=>`${e.found}; ${e.allowed}`).join(`
`),!0),this.input.focus()}hide(){this.element.hidden=!0}targets(){return this.input.value.split(`,`).map(e=>e.trim()).filter(Boolean)}say(e,t){_(this.message,e),this.element.classList.toggle(`wrong`,t),this.input.setAttribute(`aria-invalid`,String(t))}},uo={decided:`decided by the exact test`,nobody:`no choice`,"one method":`one method`};function fo(e){let t=e.target?`Which method to reach ${e.target}?`:`Which method ends with the best score?`,n=e.setting?`${e.setting}: ${t[0].toLowerCase()}${t.slice(1)}`:t,r=po(e);return h(`section`,{class:`card method-verdict ${e.certainty===`decided`?`decided`:`open`}`,"aria-label":n},h(`div`,{class:`verdict-top`},h(`h3`,{},n),h(`span`,{class:`certainty`},uo[e.certainty]??e.certainty)),h(`p`,{class:`verdict-headline`},e.headline),r.length?h(`dl`,{class:`verdict-facts`},...r.map(([e,t])=>h(`div`,{},h(`dt`,{},e),h(`dd`,{},t)))):null,e.evidence.length?h(`p`,{},e.evidence.join(` `)):null,e.reservations.length?h(`h4`,{},e.choice?`When it would not be the choice`:`What else is known`):null,e.reservations.length?h(`ul`,{},...e.reservations.map(e=>h(`li`,{},e))):null)}function po(e){if(e.choice===null)return[];let t=e.target?`to the target`:`of a run`;return[[`Method`,e.choice],[`Energy ${t}`,e.joules===null?null:`${U(e.joules,3)} J`],[`Time ${t}`,e.seconds===null?null:`${U(e.seconds,3)} s`],[`Seeds that reached it`,e.reached===null?null:`${e.reached} of ${e.seeds}`],[`Energy of ${e.next_best}, the next best`,e.factor===null?null:e.factor<1.005?`about as much`:`${U(e.factor,2)} times as much`]].filter(e=>e[1]!==null)}var mo=class{element=h(`div`,{class:`view comparing`});studyList=h(`div`,{class:`list`});sheet=h(`div`,{class:`sheet`});selected=new Set;reference=``;targets=[];targetForm=new lo(e=>void this.loadStudy({targets:e},!0));pareto=new Ga(e=>{this.paretoChoice=e,this.writeAddress(!0)});paretoChoice={cost:`joules`,log:null};study=null;nothingSelected=!1;requestNumber=0;constructor(){this.element.append(h(`aside`,{class:`panel left`,"aria-label":`Runs to compare`},h(`div`,{class:`row`},h(`h2`,{},`Compare`)),this.studyList),h(`div`,{class:`middle`},this.targetForm.element,this.sheet)),ca(()=>{this.study&&this.draw(this.study)})}restore(e){let t=e.get(`study`);t!==null&&(this.selected=new Set(t.split(`,`).filter(Boolean).map(ho))),this.nothingSelected=t===``,this.reference=e.get(`reference`)??``,this.targets=(e.get(`target`)??``).split(`,`).filter(Boolean);let n=e.get(`log`);this.paretoChoice={cost:e.get(`cost`)===`seconds`?`seconds`:`joules`,log:n===null?null:n===`1`},this.refreshRuns()}writeAddress(e){let{cost:t,log:n}=this.paretoChoice;s(`compare`,{study:[...this.selected].map(e=>encodeURIComponent(e).replaceAll(`%2F`,`/`)).join(`,`),reference:this.reference||null,target:this.targets.join(`,`)||null,cost:t===`joules`?null:t,log:n===null?null:n?`1`:`0`},e)}async refreshRuns(){this.study||g(this.sheet,E(`loading`,`Looking for runs`));try{let{runs:e,runs_dir:t,opened:n}=await m.runs(),r=e.filter(e=>!e.fault&&e.done>0),i=new Map;for(let e of r)i.set(e.study,[...i.get(e.study)??[],e]);if(!i.size){g(this.studyList),this.targetForm.hide(),g(this.sheet,E(`empty`,`Nothing to compare yet`,`Runs in ${t} appear here when they have finished a round. Start several methods under Run, or with scdn compare.`));return}this.showStudyList(i,n),await this.loadStudy()}catch(e){this.showError(e)}}showStudyList(e,t){for(let t of this.selected)e.has(t)||(this.selected.delete(t),C(`${t} is not among the comparisons`,`fault`));!this.selected.size&&!this.nothingSelected&&(this.selected.add(go(e,t)??_o(e)),[this.targets,this.reference]=[[],``]),g(this.studyList,...[...e].map(([e,t])=>{let n=new Set(t.map(e=>e.method)),r=new Set(t.map(e=>e.seed)),i=h(`input`,{type:`checkbox`,checked:this.selected.has(e),onchange:()=>{i.checked?this.selected.add(e):this.selected.delete(e),this.nothingSelected=!this.selected.size,this.loadStudy({targets:[]},!0)}});return h(`label`,{class:`study-choice`},i,h(`span`,{},h(`b`,{},e===`.`?t[0].name:e),h(`small`,{},`${[...n].sort().join(`, `)} · ${ea(r.size,`seed`)}`)))}))}async loadStudy(e={},t=!1){let{targets:n,reference:r}={targets:this.targets,reference:this.reference,...e},i=++this.requestNumber;if(!this.selected.size)this.study=null,this.targetForm.hide(),this.writeAddress(t),g(this.sheet,E(`empty`,`Select runs on the left`,`Several comparisons can be selected together.`));else{this.study||g(this.sheet,E(`loading`,`Comparing`));try{let e=await m.study([...this.selected],n,r||void 0);if(i!==this.requestNumber)return;[this.study,this.targets,this.reference]=[e,n,r],this.writeAddress(t),this.targetForm.show(e),this.draw(e)}catch(e){if(i!==this.requestNumber)return;let a=e instanceof l?e.faults:[];r&&a.some(e=>e.field===r)?await this.loadStudy({targets:n,reference:``},t):n.length&&a.length&&a.every(e=>e.field.startsWith(`target`))?(this.study||await this.loadStudy({targets:[],reference:r},t),this.targetForm.refuse(a,n)):this.showError(e)}}}showError(e){this.study=null,this.targetForm.hide();let t=e instanceof l?e.faults.map(e=>`${e.field}: ${e.found}; ${e.allowed}`).join(`
`):String(e),n=e instanceof l&&e.status===0;g(this.sheet,E(`error`,n?`The studio does not answer`:`These runs cannot be compared`,t))}draw(e){let t=new Oa({run:[...this.selected],target:this.targets,reference:e.reference}),n=h(`select`,{"aria-label":`Reference`,onchange:()=>void this.loadStudy({reference:n.value},!0)},...e.methods.map(t=>h(`option`,{value:t,selected:t===e.reference},t))),r=document.activeElement?.getAttribute(`aria-label`)===`Reference`,i=e.charts.map(n=>vo(n,e,t));g(this.sheet,h(`header`,{class:`sheet-top`},h(`h2`,{},`${ea(e.methods.length,`method`)} over ${ea(e.seeds.length,`seed`)}`),h(`label`,{class:`row`},h(`span`,{},`compared with`),n),h(`a`,{class:`button`,href:t.href(`rounds`),download:`rounds.csv`},`CSV of all rounds`)),h(`div`,{class:`verdicts`},...e.verdicts.map(fo)),e.notes.length?h(`ul`,{class:`notes`},...e.notes.map(e=>h(`li`,{},e))):null,...e.missions.map(e=>h(`p`,{class:`finding`},e)),$a(e,t),this.pareto.element,h(`div`,{class:`cards`},...i.map(e=>e.element),h(`figure`,{class:`card wide`},h(`figcaption`,{},h(`h3`,{},`Energy by term`),h(`small`,{},`Joules per run, mean over seeds`),t.links(`energy`,`ledger`)),Ea(e)))),r&&n.focus();for(let e of i)e.show();this.pareto.show(e,t,this.paretoChoice),this.element.dataset.methods=e.methods.join(`,`)}};function ho(e){try{return decodeURIComponent(e)}catch{return e}}function go(e,t){return[...e].find(([e,n])=>e===t||n.some(e=>e.run===t))?.[0]}function _o(e){let t=([,e])=>new Set(e.map(e=>e.method)).size;return[...e].sort((e,n)=>t(n)-t(e))[0][0]}function vo(e,t,n){let r=pa(t.methods),i=new ma({x:e.x_label,y:e.y_label,height:250,range:[e.low,e.high],levels:e.levels,rounds:e.x_label===`round`,logX:e.log_x}),a=e.lines.map(t=>({label:t.dashed?`${t.method}, ${e.dashed}`:t.method,colour:r.get(t.method).colour,x:t.x,y:t.y,low:t.low,high:t.high,step:t.step,dash:t.dashed?[6,4]:r.get(t.method).matched?[2,3]:void 0}));return{element:h(`figure`,{class:`card`},h(`figcaption`,{},h(`h3`,{},e.title),h(`small`,{},e.about),n.links(e.name)),i.element),show:()=>i.show(a)}}function yo(e,t){let n=t.map(e=>e.parts.reduce((e,t)=>e+t.value,0)),r=Math.max(...n);return h(`ul`,{class:`bars`,"aria-label":e},...t.map(e=>h(`li`,{class:e.best?`best`:``},h(`span`,{class:`bar-label`},e.label,e.note?h(`small`,{},e.note):null),h(`span`,{class:`bar-track`,"aria-hidden":`true`},...e.parts.map(e=>bo(e.kind,e.value/r))),h(`span`,{class:`bar-text`},e.text,e.detail?h(`small`,{},e.detail):null))))}function bo(e,t){let n=h(`i`,{class:e});return n.style.width=`${100*t}%`,n}var xo={report_bits:126816,departure:{kept:[94.73,95.96,96.41,96.55,97.06,97.17,97.16,97.17,97.27,97.27,97.62,97.62,97.62,97.71,97.91,97.91,97.89,97.91,97.93,97.93,98.03,98.11,98.1,98.1,98.13,98.11,98.14,98.2,98.34,98.32],kept_future:[null,null,null,null,null,null,97.03,96.97,97.15,97.15,97.3,97.32,97.45,97.47,97.83,97.85,97.83,97.89,97.21,97.27,97.38,97.53,97.51,97.44,97.54,97.56,97.6,97.84,97.78,97.8],forgotten:[94.73,95.96,96.41,96.55,97.06,97.17,94.57,96.89,91.03,96.59,97.25,97.28,97.6,97.52,97.72,97.72,97.82,97.81,90.72,95.54,96.01,97.17,97.23,97.23,97.22,97.44,97.43,97.45,97.53,97.35],exited:[[],[],[],[],[],[],[`sensor-1`,`sensor-4`],[],[`sensor-2`],[],[],[],[],[],[],[],[],[],[`sensor-3`,`sensor-5`,`sensor-6`],[],[],[],[],[],[],[],[],[],[`ranger-5`],[]],fire:{round:18,centre_m:[1750,250],radius_m:600},region_m:[2e3,2e3,120],server_m:[980.7,598.2,60],devices:[{id:`sensor-3`,position_m:[1612.9,449.7,0]},{id:`sensor-5`,position_m:[1745.7,146.2,0]},{id:`sensor-6`,position_m:[1647,309.9,0]},{id:`sensor-7`,position_m:[571.5,63.5,0]},{id:`balloon-1`,position_m:[72.7,369,43.4]},{id:`balloon-2`,position_m:[1286.2,821.2,31.6]},{id:`ranger-1`,position_m:[998.6,870.3,0]},{id:`ranger-2`,position_m:[363.4,984.7,0]},{id:`ranger-3`,position_m:[1721.1,961.1,0]},{id:`ranger-4`,position_m:[1527.9,969.8,0]}],runs:10,mean_change:{kept:.07,forgotten:-2.96}},networks:{wildfire:{"top3=95":[{method:`mission`,runs:10,reached:10,joules:10115.327,seconds:60,cheaper:0,dearer:0},{method:`sc-dn`,runs:10,reached:10,joules:12442.389,seconds:73.765,cheaper:0,dearer:10},{method:`max-vfl`,runs:10,reached:10,joules:10115.706,seconds:60,cheaper:1,dearer:5},{method:`gsp`,runs:10,reached:10,joules:16331.724,seconds:92.804,cheaper:0,dearer:10},{method:`vafl`,runs:10,reached:10,joules:1476.01,seconds:8.71,cheaper:10,dearer:0}],"top3=97":[{method:`mission`,runs:10,reached:10,joules:30347.507,seconds:180,cheaper:0,dearer:0},{method:`sc-dn`,runs:10,reached:10,joules:50371.392,seconds:298.765,cheaper:0,dearer:10},{method:`max-vfl`,runs:10,reached:10,joules:32877.964,seconds:195,cheaper:4,dearer:4},{method:`gsp`,runs:10,reached:10,joules:41489.392,seconds:242.028,cheaper:2,dearer:8},{method:`vafl`,runs:10,reached:4,joules:null,seconds:null,cheaper:4,dearer:6}]},"smart-grid":{"top3=95":[{method:`mission`,runs:10,reached:10,joules:181.359,seconds:35,cheaper:0,dearer:0},{method:`sc-dn`,runs:10,reached:10,joules:6327.548,seconds:56.66,cheaper:3,dearer:7},{method:`max-vfl`,runs:10,reached:10,joules:105.868,seconds:20,cheaper:9,dearer:0},{method:`gsp`,runs:10,reached:10,joules:8120.708,seconds:67.689,cheaper:0,dearer:10},{method:`vafl`,runs:10,reached:10,joules:43.258,seconds:6.608,cheaper:10,dearer:0}],"top3=97":[{method:`mission`,runs:10,reached:10,joules:984.09,seconds:185,cheaper:0,dearer:0},{method:`sc-dn`,runs:10,reached:10,joules:6569.614,seconds:101.66,cheaper:5,dearer:5},{method:`max-vfl`,runs:10,reached:9,joules:500.158,seconds:95,cheaper:8,dearer:1},{method:`gsp`,runs:10,reached:10,joules:8356.943,seconds:112.689,cheaper:1,dearer:9},{method:`vafl`,runs:10,reached:2,joules:null,seconds:null,cheaper:2,dearer:8}]}}};function So(e){return e.reduce((e,t)=>(t.joules??1/0)<(e.joules??1/0)?t:e)}var Co=.61,wo=1.2,To=class{size;font;labels=[];taken=[];constructor(e,t){this.size=e,this.font=t}avoid(e,t,n){this.taken.push({left:e-n,right:e+n,top:t-n,bottom:t+n})}avoidLine([e,t],[n,r]){let i=Math.ceil(Math.hypot(n-e,r-t)/12);for(let a=1;a<i;a++)this.avoid(e+(n-e)*a/i,t+(r-t)*a/i,4)}add(e,t,n,r,i){this.labels.push({x:e,y:t,gap:n,lines:r,kind:i})}draw(){return this.labels.map(e=>this.drawOne(e))}drawOne(e){let t=this.place(e);this.taken.push(t);let n={start:t.left,middle:(t.left+t.right)/2,end:t.right}[t.anchor];return y(`text`,{class:`map-label ${e.kind}`,"font-size":this.font,"text-anchor":t.anchor},...e.lines.map((e,r)=>y(`tspan`,{class:r?`label-note`:`label-name`,x:n,y:t.top+this.font*(.95+wo*r)},e)))}place(e){let t=this.candidates(e),n=t.map((e,t)=>t+40*this.outside(e)+this.taken.reduce((t,n)=>t+Eo(e,n),0));return t[n.indexOf(Math.min(...n))]}candidates({x:e,y:t,gap:n,lines:r}){let i=Math.max(...r.map(e=>e.length))*this.font*Co,a=r.length*this.font*wo,o=(r,o)=>{let s=e+r*(n+i/2),c=t+o*(n+a/2);return{anchor:r>0?`start`:r<0?`end`:`middle`,left:s-i/2,right:s+i/2,top:c-a/2,bottom:c+a/2}};return n?[[1,0],[-1,0],[0,-1],[0,1],[.8,.8],[.8,-.8],[-.8,.8],[-.8,-.8]].map(([e,t])=>o(e,t)):[o(0,0)]}outside({left:e,right:t,top:n,bottom:r}){let i=e=>Math.max(0,e);return i(4-e)+i(t-this.size+4)+i(4-n)+i(r-this.size+4)}},Eo=(e,t)=>Math.max(0,Math.min(e.right,t.right)-Math.max(e.left,t.left))*Math.max(0,Math.min(e.bottom,t.bottom)-Math.max(e.top,t.top)),Do=10,Oo=480,ko=46,Ao=class{element=h(`div`,{class:`map-frame`});picture=null;size=0;constructor(){new ResizeObserver(()=>this.draw()).observe(this.element)}show(e){this.picture=e,this.size=0,this.draw()}draw(){let e=Math.floor(Math.min(this.element.clientWidth,this.element.clientHeight));!this.picture||e<50||e===this.size||(this.size=e,g(this.element,jo(this.picture,e)))}};function jo(e,t){let n=(t-20)/Math.max(e.region[0],e.region[1]),r=([e,r])=>[Do+e*n,t-Do-r*n],i=new To(t,t<Oo?12:14),a=[...Mo(t),...No(e,r,n,i),...Po(e,r,i)],o=r(e.server.position);for(let{position:t}of e.devices)i.avoid(...r(t),11);i.avoid(...o,20);for(let t of e.devices)t.load!==void 0&&(a.push(Fo(r(t.position),o,t.load)),i.avoidLine(r(t.position),o));e.path&&a.push(y(`polyline`,{class:`flight`,points:e.path.map(e=>r(e).join(`,`)).join(` `)})),e.before&&(i.avoid(...r(e.before.position),18),a.push(Lo(...r(e.before.position),`before`)),i.add(...r(e.before.position),20,[e.before.note],`before`)),a.push(Lo(...o,``)),i.add(...o,24,[e.server.note],`server`);for(let n of e.devices){let[e,o]=r(n.position);a.push(Io(e,o,n));let s=t<Oo&&!n.always?void 0:n.note;i.add(e,o,13,s?[n.id,s]:[n.id],n.state)}return a.push(...Ro(n,e.caption??``)),y(`svg`,{class:`network-map`,width:t,height:t,viewBox:`0 0 ${t} ${t}`,role:`img`,"aria-label":e.about},y(`rect`,{class:`forest`,x:.5,y:.5,width:t-1,height:t-1,rx:12}),...a,...i.draw())}function Mo(e){let t=[];for(let n=0;n*ko<e-30;n++)for(let r=0;r*ko<e-30;r++){let e=22+r*ko+13*Math.sin(7*n+3*r),i=26+n*ko+13*Math.cos(5*n+11*r);t.push(y(`path`,{class:`tree`,d:`M${e.toFixed(1)} ${(i-8).toFixed(1)}l6 12h-12z`}))}return t}function No(e,t,n,r){if(!e.fire)return[];let[i,a]=t(e.fire.centre);return r.add(i-10,a-e.fire.radius*n*.55,0,[e.fire.note],`fire`),[y(`clipPath`,{id:`forest`},y(`rect`,{width:`100%`,height:`100%`,rx:12})),y(`circle`,{class:`fire`,cx:i,cy:a,r:e.fire.radius*n,"clip-path":`url(#forest)`})]}function Po(e,t,n){if(!e.rock)return[];let[r,i]=t(e.rock),[a,o]=t(e.rock.slice(3));return n.avoid((r+a)/2,(o+i)/2,(a-r)/2),n.add((r+a)/2,(o+i)/2,(a-r)/2+3,[`rock`],`rock`),[y(`rect`,{class:`rock`,x:r,y:o,width:a-r,height:i-o,rx:3})]}function Fo([e,t],[n,r],i){let a=y(`line`,{class:`link`,x1:e,y1:t,x2:n,y2:r});return a.style.setProperty(`--load`,`${Math.round(100*i)}%`),a}function Io(e,t,n){let r=[y(`circle`,{cx:e,cy:t,r:8})];return n.position[2]>0&&r.push(y(`circle`,{class:`ring`,cx:e,cy:t,r:11.5})),n.state===`departed`&&r.push(y(`path`,{d:`M${e-6} ${t-6}l12 12m0 -12l-12 12`})),y(`g`,{class:`device ${n.state}`},...r)}function Lo(e,t,n){let r=[[-1,-1],[1,-1],[-1,1],[1,1]].map(([n,r])=>y(`circle`,{cx:e+11*n,cy:t+11*r,r:6}));return y(`g`,{class:`drone ${n}`},y(`path`,{d:`M${e-11} ${t-11}l22 22m0 -22l-22 22`}),...r,y(`rect`,{x:e-6,y:t-6,width:12,height:12,rx:3}))}function Ro(e,t){let[n,r,i]=[18,26,500*e];return[y(`path`,{class:`scale-bar`,d:`M${n} ${r-6}v6h${i}v-6`}),y(`text`,{class:`map-label scale-text`,x:n+i+8,y:r},`500 m`),y(`text`,{class:`map-label scale-text`,x:n,y:r+24},t)]}var zo=`wildfire.toml`,Bo=1e-4,Vo=10;async function Ho(){let{name:e,text:t}=(await m.examples()).find(e=>e.name===zo),n=Uo((await m.open(e,t)).request,xo.report_bits),r=n.server.position_m,[i,a,o,s]=await Promise.all([m.plan(n,`exact`,Bo,Vo),m.plan({...n,candidates_m:[r]},`exact`,Bo,Vo),m.plan(n,`gsp`,Bo,Vo),m.leastChanges(n,r)]);return{example:e,request:n,plan:i,stay:a,gsp:o,unheard:s.devices}}function Uo(e,t){return{...e,devices:e.devices.map(e=>({...e,payload_bits:t}))}}var Wo=(e,t)=>Math.hypot(...e.map((e,n)=>e-t[n])),Go=e=>e.devices.filter(e=>e.active).length;function Ko(e,t){let{batch_size:n,steps_per_iteration:r,compute_deadline_s:i}=e.learning,a=3*n*r*Number(t.connections)/t.flops_per_cycle;return Math.min(Math.floor(Number(t.cpu_max_hz)*i/a),e.max_iterations)}function qo(e){let t=e.server.path_m??[];return t.slice(1).reduce((e,n,r)=>e+Wo(t[r],n),0)}var Jo=[`no`,`one`,`two`,`three`,`four`,`five`,`six`,`seven`,`eight`,`nine`,`ten`],Yo=e=>Jo[e]??String(e),Xo=e=>e[0].toUpperCase()+e.slice(1),Zo=e=>e<999.5?`${U(e,2)} m`:`${U(e/1e3,2)} km`;function Qo({request:e}){let{devices:t,server:n}=e,r=e=>Wo(e.position_m,n.position_m),i=e=>Number(e.wall_loss_db??0),a=t.map(t=>Ko(e,t)),o=[...t].sort((e,t)=>i(t)-i(e)),s=[...t].sort((e,t)=>r(e)-r(t)),c=t[a.indexOf(Math.min(...a))],{fire:l}=xo.departure,u=e=>e===c?`slowest: can do ${Math.min(...a)} iterations`:e===o[0]?`most leaves: ${U(i(e),1)} dB`:`${Zo(r(e))} away`,d=new Ao;return d.show({about:`${t.length} devices in a forest, seen from above, with their distances from the UAV`,region:e.region_m,devices:t.map(e=>({id:e.id,position:e.position_m,state:`present`,note:u(e),always:[c,o[0],s[0],s.at(-1)].includes(e)})),server:{position:n.position_m,note:`UAV (drone) with the server`},fire:{centre:l.centre_m,radius:l.radius_m,note:`fire in round ${l.round+1}`}}),{name:`Devices differ`,title:`${Xo(Yo(t.length))} devices watch a forest. Each sees a different part.`,picture:d.element,words:[h(`p`,{class:`purpose`},`scdn, this program, trains one model from all of them to recognise what happens, with as little energy and time as it can, and keeps it working when devices are lost.`),h(`p`,{},`Each device measures different features of the same events, keeps them to itself, and sends the server on the UAV only short codes, `,h(`b`,{},`embeddings`),`: this is `,h(`b`,{},`vertical federated learning`),`.`),$o(t.map(e=>e.id)),h(`p`,{},`The devices differ: they are ${Zo(r(s[0]))} to ${Zo(r(s.at(-1)))} from the UAV, behind leaves that take up to ${U(i(o[0]),1)} dB of the signal, can do ${Math.min(...a)} to ${Math.max(...a)} training iterations a round, and some will burn.`),h(`p`,{class:`source`},`An example: handwritten digits (MNIST), split between the devices, stand in for what real sensors would measure.`)]}}function $o(e){let t=e=>e.replace(/^(.).*-(\d+)$/,`$1$2`),n=[1,2,3];return h(`figure`,{class:`feature-table`,role:`img`,"aria-label":`A table: the same events in rows, and each device has a column of its own; together they train one model`},h(`div`,{class:`features`},h(`span`,{class:`feature-caption`},`Columns: what each device measures`),h(`span`,{}),...e.map(e=>h(`span`,{class:`feature-head`},t(e))),...n.flatMap(t=>[h(`span`,{},`event ${t}`),...e.map((e,t)=>h(`i`,{class:`tint${t%3}`}))])),h(`span`,{class:`feature-arrow`},`→`),h(`span`,{class:`feature-model`},`one model`))}var es=(e,t)=>{let[n,r]=[t(Math.min(...e)),t(Math.max(...e))];return n===r?n:`${n} to ${r}`},ts=e=>String(Number((1e3*e).toPrecision(2))),ns=e=>`${ts(e)} mW`,rs=e=>`${U(e/1e3,2)} kJ`;function is(e){let{plan:t}=e;return{name:`The server decides`,title:`Every round, the server decides four things`,picture:as(e),words:[os(e),...cs(e),h(`p`,{class:`source`},`Computed just now for round 1; the exact solver proves that no plan is more than ${U(100*Math.max(t.gap??0,1e-4),1)} % cheaper. The penalty is an estimate from theory, with a weight that you set.`)]}}function as({request:e,plan:t}){let n=new Map(t.devices.map(e=>[e.id,e])),r=new Ao;return r.show({about:`The UAV has flown to a place where it hears ${Go(t)} of ${t.devices.length} devices; links show the power that each needs`,region:e.region_m,devices:e.devices.map(e=>{let{active:t,power_w:r}=n.get(e.id);return{id:e.id,position:e.position_m,state:t?`present`:`unheard`,note:t?ns(r):`rests`,always:!0,load:t?r/e.max_power_w:void 0}}),server:{position:t.server.position_m,note:`planned place`},before:{position:e.server.position_m,note:`start`},caption:`the stronger a link is drawn, the more power`,path:t.server.path_m,rock:e.keep_out_m.at(-1)}),r.element}function os({request:e,plan:t,stay:n,unheard:r}){let i=t.devices.filter(e=>e.active),a=t.devices.length,{compute_deadline_s:o}=e.learning,s=Math.max(...i.map(e=>e.iterations)),c=i.filter(e=>e.iterations<s),l=new Map(e.devices.map(t=>[t.id,Ko(e,t)])),u=c.every(e=>e.iterations===l.get(e.id)),[d,f]=ss(r),p=[[`Place`,`fly ${Zo(qo(t))}`,`There it hears ${Go(t)===a?`all`:``} ${Go(t)} devices, from its start only ${Go(n)}: ${d} would need ${ns(f)}, but has ${ns(e.devices[0].max_power_w)}.`],[`Power`,`${es(i.map(e=>e.power_w),ts)} mW`,`The least with which a report arrives in ${U(e.max_delay_s,1)} s.`],[`Clock`,`${es(i.map(e=>e.cpu_hz),e=>String(Math.round(e/1e6)))} MHz`,`The slowest that is ready in ${U(o,1)} s: a slow clock saves energy.`],[`Iterations`,es(i.map(e=>e.iterations),String),`More would cost more than it teaches, or take too long${c.length&&u?`: ${c.map(e=>e.id).join(`, `)} is too slow for ${s}`:``}.`]];return h(`table`,{class:`decisions`},h(`thead`,{},h(`tr`,{},h(`th`,{scope:`col`},`Decision`),h(`th`,{scope:`col`},`Now`),h(`th`,{scope:`col`},`Why`))),h(`tbody`,{},...p.map(([e,t,n])=>h(`tr`,{},h(`th`,{scope:`row`},e),h(`td`,{},h(`b`,{},t)),h(`td`,{},n)))))}function ss(e){return e.flatMap(({id:e,changes:t})=>t.filter(({setting:e})=>e===`max_power_w`).map(({value:t})=>[e,t])).reduce((e,t)=>t[1]>e[1]?t:e,[``,0])}function cs({request:e,plan:t,stay:n,gsp:r}){let i=({weighted:e})=>[`movement`,`transmission`,`processing`,`convergence`].map(t=>({value:e[t],kind:t===`convergence`?`lost`:t===`movement`?`flight`:`devices`})),a=(e,n,r)=>({label:e,note:n,parts:i(r),best:r===t,text:r===t?U(r.objective):`${U(r.objective)} (+${U(100*(r.objective/t.objective-1),2)} %)`}),o=[t,r,n].filter(e=>!e.violations.length),s=o.slice(1).reduce((e,t)=>t.objective<e.objective?t:e),c=t.terms.movement_j-n.terms.movement_j,l=new Map([[t,[`This plan`,`sc-dn, `]],[r,[`Best average link`,`GSP, `]],[n,[`Stay at the start`,``]]]),u=o.map(e=>a(l.get(e)[0],`${l.get(e)[1]}hears ${Go(e)}`,e));return[h(`h2`,{},`This round, by an estimate: cost ${U(t.objective)} (lower is better), next best ${U(s.objective)}`),h(`p`,{class:`cost-meaning`},`Cost = joules (the UAV's count 1/${U(1/e.weights.movement,2)}) + a penalty for what is not learned. Whole runs may judge otherwise: scene 4 shows what they took.`),yo(`Cost of the round by plan`,u),h(`p`,{class:`keys`},`This plan:`,ls(`flight`,`flying and hovering ${U(t.weighted.movement)}`),ls(`devices`,`sending and computing ${U(t.weighted.transmission+t.weighted.processing,2)}`),ls(`lost`,`not learned ${U(t.weighted.convergence,2)}`)),h(`p`,{},`Flying costs ${rs(c)} more than staying, but ${Yo(Go(t)-Go(n))} more devices teach the model.`)]}var ls=(e,t)=>h(`span`,{class:`bar-key`},h(`i`,{class:e}),t),us=480,[ds,fs,ps,ms]=[46,12,30,40],hs=class{options;element=h(`div`,{class:`score-chart`});constructor(e){this.options=e,new ResizeObserver(()=>this.draw()).observe(this.element)}draw(){let[e,t]=[this.element.clientWidth,this.element.clientHeight];if(e<50)return;let{about:n,low:r,high:i,step:a,lines:o,marks:s}=this.options,c=Math.max(...o.map(e=>e.values.length)),l=t=>ds+(e-ds-fs)*t/(c-1),u=e=>t-ms-(t-ps-ms)*(e-r)/(i-r),d=[];for(let t=r;t<=i;t+=a)d.push(y(`line`,{class:`grid`,x1:ds,x2:e-fs,y1:u(t),y2:u(t)}),y(`text`,{class:`tick`,x:ds-8,y:u(t)+5,"text-anchor":`end`},`${t} %`));for(let e of[0,9,19,29].filter(e=>e<c))d.push(y(`text`,{class:`tick`,x:l(e),y:t-ms+20,"text-anchor":`middle`},e?String(e+1):`round 1`));for(let{round:e,text:n,strong:r}of s)d.push(y(`line`,{class:r?`mark strong`:`mark`,x1:l(e),x2:l(e),y1:ps-6,y2:t-ms}),y(`text`,{class:r?`mark-text strong`:`mark-text`,x:l(e),y:ps-12,"text-anchor":`middle`},n));d.push(y(`text`,{class:`mark-text`,x:0,y:ps-12},e<us?`leave:`:`devices that leave:`));for(let e of o){let t=e.values.flatMap((e,t)=>e===null?[]:[`${l(t).toFixed(1)},${u(e).toFixed(1)}`]);d.push(y(`polyline`,{class:`line ${e.kind}`,points:t.join(` `)}))}for(let{kind:e,name:t,nameAt:[n,r],anchor:i=`start`}of o)d.push(y(`text`,{class:`line-name ${e}`,x:l(n),y:u(r),"text-anchor":i},t));g(this.element,y(`svg`,{width:e,height:t,viewBox:`0 0 ${e} ${t}`,role:`img`,"aria-label":n},...d))}},gs=(e,t)=>vs(e)===vs(t)?`stays at ${vs(t)}`:`goes from ${vs(e)} to ${vs(t)}`,_s=e=>`${e>0?`+`:``}${U(e,1)}`,vs=e=>`${e.toFixed(1)} %`,ys=e=>e.length<2?e.join(``):`${e.slice(0,-1).join(`, `)} and ${e.at(-1)}`;function bs(){let{kept:e,kept_future:t,forgotten:n,exited:r,fire:i,runs:a,mean_change:o}=xo.departure,s=i.round,c=r[s],l=r.slice(0,s).flat().sort();return{name:`A device leaves`,title:`A fire takes ${Yo(c.length)} sensors. What they have sent stays.`,picture:xs(),words:[h(`p`,{},`The server keeps the embeddings of devices that leave, and goes on learning from them. When ${ys(c)} burn, top-3 accuracy `,h(`b`,{},gs(e[s-1],e[s])),`; a server that forgets them `,h(`b`,{},`falls from ${vs(n[s-1])} to ${vs(n[s])}`),`.`),Ss().element,h(`p`,{},`Lost sensors see no new events: for these the server estimates their part, and the right answer is still among its first three guesses in ${vs(t[s])}.`),h(`p`,{},`${Xo(ys(l))} were lost in earlier rounds. The devices named ranger joined later: rangers placed them along the road.`),h(`p`,{class:`source`},`Top-3 accuracy: the right answer is among the model's first three guesses. Two recorded runs that differ only in what the server keeps. This fire is a strong case: on average over ${a} pairs of runs, accuracy changes by ${_s(o.kept)} points when devices leave if their embeddings are kept, and by ${_s(o.forgotten)} if they are forgotten.`)]}}function xs(){let{devices:e,exited:t,fire:n,server_m:r,region_m:i}=xo.departure,a=t[n.round],o=new Ao;return o.show({about:`The network in round ${n.round+1}: a fire in the south-east takes ${a.length} sensors`,region:i,devices:e.map(({id:e,position_m:t})=>({id:e,position:t,state:a.includes(e)?`departed`:`present`,load:a.includes(e)?void 0:.3})),server:{position:r,note:`UAV with the server`},fire:{centre:n.centre_m,radius:n.radius_m,note:`fire in round ${n.round+1}`},caption:`crossed out: lost, but its embeddings stay`}),o.element}function Ss(){let{kept:e,kept_future:t,forgotten:n,exited:r,fire:i}=xo.departure,a=r.flatMap((e,t)=>e.length?[{round:t,count:e.length}]:[]);return new hs({about:`Top-3 accuracy over the rounds: kept embeddings hold it, forgotten ones make it fall at each departure`,low:90,high:99,step:3,lines:[{kind:`future`,values:t,name:`kept, new events`,nameAt:[29,96.2],anchor:`end`},{kind:`forgotten`,values:n,name:`forgotten`,nameAt:[i.round+.5,91]},{kind:`kept`,values:e,name:`embeddings kept`,nameAt:[29,98.6],anchor:`end`}],marks:a.map(({round:e,count:t})=>({round:e,text:e===i.round?`${t}: fire`:String(t),strong:e===i.round}))})}var Cs={mission:`measures learning, and plans for a target`,"sc-dn":`plans as in scene 2: estimates learning by theory`,"max-vfl":`stays; all devices at full power and clock`,gsp:`flies to the best average link`,vafl:`asynchronous: waits for no device`},ws=e=>e>=1e3?`${U(e/1e3)} kJ`:`${U(e,2)} J`,Ts=e=>`${Math.round(e)} s`,Es=e=>`${ws(e.joules)} and ${Ts(e.seconds)}`+(e.reached<e.runs?` (${e.reached} of ${e.runs} runs reach it)`:``);function Ds(e){let t=[...xo.networks.wildfire[`top3=97`]].sort((e,t)=>(e.joules??1/0)-(t.joules??1/0)),n=t[0],r=js(n.method).map(e=>e.method);return{name:`Which method`,title:`Here, choose ${n.method}${r.length?`; ${r.join(` and `)} ${r.length>1?`are`:`is`} close`:``}`,picture:h(`div`,{class:`method-costs`},h(`h2`,{},`Energy and time until 97 % top-3 accuracy, lower is better`),yo(`Energy and time to 97 % by method`,t.map(e=>({label:e.method,note:Cs[e.method],best:e===n,parts:[{value:e.joules??0,kind:e===n?`chosen`:`other`}],text:e.joules===null?`most runs never get there`:`${ws(e.joules)}, ${Ts(e.seconds)}`,detail:`${e.reached} of ${e.runs} runs reach it`}))),h(`p`,{class:`source`},`Recorded runs of wildfire.toml: medians of ${n.runs} runs a method, all joules of UAV and devices, simulated seconds. Accuracy: the right answer is among the first three.`)),words:[h(`p`,{},Os),h(`p`,{},As(t,n)),...e?[h(`p`,{},ks(e))]:[],h(`h2`,{},`When another method is the choice`),h(`ul`,{class:`exceptions`},...Ms(n.method))]}}var Os=`You name a target. In every round a mission measures what each device contributes, and makes the four decisions that reach the target with the least energy.`,ks=({plan:e,stay:t})=>`Scene 2 rates one round by theory: there the server that stays, as max-vfl's does, is worst, since it hears only ${Go(t)} of ${e.devices.length} devices. In whole runs, those that it heard were enough for this target.`;function As(e,t){let n=e.filter(e=>e!==t),r=n.filter(e=>e.joules!==null).map((e,n)=>`${e.method} ${n?``:`takes `}${Math.round(100*(e.joules/t.joules-1))} %${n?``:` more energy`}`),i=n.filter(e=>e.joules===null).map(e=>`${e.method} gets there in only ${e.reached} of ${e.runs} runs`);return`It reaches 97 % top-3 accuracy for ${Es(t)}. ${Xo([r.join(`, `),...i].join(`; `))}. Nearly all energy is the UAV's hovering, ${U(t.joules/t.seconds)} W: a method that needs fewer rounds saves more than a better place does.`}var js=e=>xo.networks.wildfire[`top3=97`].filter(t=>t.method!==e&&t.cheaper>=t.dearer);function Ms(e){let{wildfire:t,"smart-grid":n}=xo.networks;return[...js(e).map(t=>h(`li`,{},h(`b`,{},`If simple is better: ${t.method}`),`, everything at its maximum. It is about as good here: cheaper than ${e} in ${t.cheaper} of ${t.runs} runs, more expensive in ${t.dearer}, much the same in ${t.runs-t.cheaper-t.dearer}.`)),...Ns(`If 95 % is enough`,t[`top3=95`],e),...Ns(`To 97 % in another network, smart-grid`,n[`top3=97`],e)]}function Ns(e,t,n){let r=So(t),i=t.find(e=>e.method===n);return r.method===n?[]:[h(`li`,{},h(`b`,{},`${e}: ${r.method}`),`, for ${Es(r)}; ${n} takes ${Es(i)}.`)]}var Ps=[`Devices differ`,`The server decides`,`A device leaves`,`Which method`],Fs=`scdn-introduced`,Is=700,Ls=()=>localStorage.getItem(Fs)!==null,Rs=class{actions;element=h(`div`,{class:`view introduction`});scenes=new Map;story=null;scene=0;turnedAt=0;steps=Ps.map((e,t)=>h(`button`,{type:`button`,class:`step-dot`,onclick:()=>this.go(t)},h(`i`,{},String(t+1)),h(`span`,{},e)));picture=h(`div`,{class:`scene-picture`});words=h(`div`,{class:`scene-words`});body=h(`div`,{class:`scene`},this.picture,this.words);foot=h(`div`,{class:`scene-foot`});announced=h(`p`,{class:`for-readers`,role:`status`});fault=null;constructor(e){this.actions=e,this.element.append(h(`div`,{class:`scene-steps`},h(`nav`,{"aria-label":`Scenes`},...this.steps),h(`a`,{class:`button skip-introduction`,href:`#plan`},`Skip`)),this.body,this.foot,this.announced),document.addEventListener(`keydown`,e=>this.handleKey(e)),this.element.addEventListener(`wheel`,e=>this.handleWheel(e),{passive:!0}),this.show()}async start(){try{this.story=await Ho(),this.scenes.clear(),this.show()}catch(e){if(!(e instanceof l))throw e;this.fault=e.message,this.show()}}shown(){localStorage.setItem(Fs,`1`)}restore(e){let t=Number(e.get(`scene`)??1);this.scene=Number.isInteger(t)?Math.min(Math.max(t,1),Ps.length)-1:0,s(`introduction`,{scene:String(this.scene+1)}),this.show()}go(e){if(e<0||e>=Ps.length||e===this.scene)return;this.scene=e,s(`introduction`,{scene:String(e+1)},!0);let t=this.foot.contains(document.activeElement)?document.activeElement.classList.contains(`back`):null;this.show(),t!==null&&this.foot.querySelector(t&&e?`.back`:`.next`).focus(),_(this.announced,`Scene ${e+1} of ${Ps.length}: ${Ps[e]}`),this.element.scrollTop=0}handleKey(e){let t=e.target instanceof HTMLElement&&e.target.closest(`input, select, textarea, dialog`);if(this.element.hidden||t||e.ctrlKey||e.altKey||e.metaKey)return;let n={ArrowRight:1,PageDown:1,ArrowLeft:-1,PageUp:-1}[e.key];n&&(e.preventDefault(),this.go(this.scene+n))}handleWheel(e){let t=performance.now();[this.element,this.words,document.getElementById(`main`)].some(e=>e.scrollHeight>e.clientHeight+1)||Math.abs(e.deltaY)<20||t-this.turnedAt<Is||(this.turnedAt=t,this.go(this.scene+Math.sign(e.deltaY)))}show(){this.steps.forEach((e,t)=>{e.setAttribute(`aria-current`,t===this.scene?`step`:`false`),e.classList.toggle(`past`,t<this.scene)});let e=this.sceneAt(this.scene);this.element.dataset.scene=String(this.scene+1),this.element.dataset.ready=String(e!==null),e?(g(this.picture,e.picture),g(this.words,h(`h1`,{},e.title),...e.words)):(g(this.picture,this.fault===null?E(`loading`,`Computing the plan`):E(`error`,`The plan could not be computed`,this.fault)),g(this.words,h(`h1`,{},Ps[this.scene]))),g(this.foot,...this.nextSteps())}sceneAt(e){let{story:t}=this;return!this.scenes.has(e)&&(t||e>1)&&this.scenes.set(e,e===0?Qo(t):e===1?is(t):e===2?bs():Ds(t)),this.scenes.get(e)??null}nextSteps(){let e=this.scene?S(`Back`,()=>this.go(this.scene-1),{class:`back`}):null,t=Ps[this.scene+1];if(t)return[e,S(`Next: ${t.toLowerCase()}`,()=>this.go(this.scene+1),{class:`main next`})];let n=this.story!==null;return[e,h(`a`,{class:`button`,href:`#compare`},`Compare methods`),S(`Start this run`,()=>this.actions.startRun(this.story.example),{disabled:!n}),S(`Plan this network by hand`,()=>this.actions.planByHand(this.story.request),{class:`main next whole`,disabled:!n})]}},zs=(e,t)=>({name:e,are:t,accepts:(t,n)=>n?.reason===e}),Bs=[{name:`all`,are:`are there`,accepts:()=>!0},{name:`active`,are:`are active`,accepts:(e,t)=>t?.active===!0},{name:`off`,are:`are off`,accepts:(e,t)=>t?.active===!1},zs(`out_of_reach`,`are out of reach`),zs(`clock_too_slow`,`have too slow a clock`),zs(`battery`,`save their batteries`),zs(`not_worth_it`,`are not worth their energy`),{name:`flying`,are:`fly`,accepts:e=>e.position_m[2]>0}],Vs=Bs[2],Hs=class{model;hooks;element;found=[];filter=Bs[0];text=``;search=h(`input`,{type:`search`,"aria-label":`Find a device`,placeholder:`Find by name`,maxlength:80});select=h(`select`,{"aria-label":`Show devices that are`});count=h(`span`,{role:`status`});next=S(`Show next`,()=>this.showNext(),{});clear=S(`All`,()=>this.set(`all`,``),{"aria-label":`Show all devices`,title:`Show all devices`});options=Bs.map(({name:e})=>h(`option`,{value:e}));constructor(e,t){this.model=e,this.hooks=t,this.select.append(...this.options),this.select.addEventListener(`change`,()=>this.set(this.select.value,this.text)),this.search.addEventListener(`input`,()=>this.set(this.filter.name,this.search.value)),this.search.addEventListener(`keydown`,e=>{e.key===`Enter`&&this.showNext()}),this.element=h(`div`,{class:`finder`},this.search,this.select,this.count,h(`span`,{class:`buttons`},this.clear,this.next))}get narrow(){return this.filter.name!==`all`||this.text.trim()!==``}set(e,t){this.filter=Bs.find(t=>t.name===e)??Bs[0],this.text=t,this.search.value!==t&&(this.search.value=t),this.hooks.change()}update(){let{request:e,shownPlan:t}=this.model,n=Us(t),r=this.text.trim().toLowerCase();this.found=e.devices.filter(e=>this.filter.accepts(e,n.get(e.id))&&(!r||e.id.toLowerCase().includes(r)));let i=Bs.map(t=>e.devices.filter(e=>t.accepts(e,n.get(e.id))).length);Bs.forEach(({name:e},t)=>{let n=this.options[t];_(n,`${e.replaceAll(`_`,` `)} (${i[t]})`),n.hidden=i[t]===0&&e!==`all`&&e!==`off`&&e!==this.filter.name}),this.select.value=this.filter.name;let a=i[Bs.indexOf(Vs)],o=ea(e.devices.length,`device`),s=r?` and have “${this.text.trim()}” in their name`:``;_(this.count,this.narrow?`${this.found.length} of ${o} ${this.filter.name===`all`?s.replace(` and `,``):this.filter.are+s}.`:`${a} of ${o} ${a===1?`is`:`are`} off.`),this.next.disabled=this.narrow?!this.found.length:!a,this.next.title=this.narrow?`Show the next of these in the scene`:`Show the next device that is off in the scene`,this.next.setAttribute(`aria-label`,this.next.title),this.clear.hidden=!this.narrow}showNext(){this.narrow||this.set(Vs.name,``);let e=this.found.findIndex(({id:e})=>this.model.selected===`device:${e}`),t=this.found[(e+1)%this.found.length];t&&(this.model.select(`device:${t.id}`),this.hooks.show(t))}address(){return{filter:this.filter.name===`all`?null:this.filter.name,find:this.text.trim()||null}}restore(e){this.set(e.get(`filter`)??`all`,e.get(`find`)??``)}},Us=e=>new Map((e?.devices??[]).map(e=>[e.id,e])),Ws=100,Gs=[`Device`,`Iterations`,`Power`,`Clock`,`Delay`],Ks=class{model;finder;element;title=h(`h3`);body=h(`tbody`);note=h(`p`,{class:`hint`});servers=[this.serverButton(`server`,`Server`,`Select the server`,`Select the server as it is before the round`),this.serverButton(`planned`,`Planned`,`Select the planned server`,`Select the planned server, to see what another place would cost`)];rows=new Map;constructor(e,t){this.model=e,this.finder=t;let n=h(`thead`,{},h(`tr`,{},...Gs.map(e=>h(`th`,{scope:`col`},e))));this.element=h(`section`,{class:`device-list`,"aria-label":`Devices`},h(`div`,{class:`row`},this.title,h(`span`,{class:`buttons`},...this.servers)),t.element,h(`div`,{class:`scroll`},h(`table`,{class:`devices`},n,this.body),this.note)),e.onChange(()=>this.markSelected())}serverButton(e,t,n,r){return S(t,()=>this.model.select(e),{"aria-label":n,"aria-pressed":`false`,title:r})}show(){let{shownPlan:e,whatIf:t}=this.model;this.finder.update(),_(this.title,t?`Devices, with the server here`:`Devices`);let n=Us(e),r=this.finder.found.map(({id:e})=>n.get(e)).filter(e=>!!e),i=(r.length>Ws?[...r.filter(({active:e})=>!e),...r.filter(({active:e})=>e)]:r).slice(0,Ws);i.length===this.rows.size&&i.every(e=>this.rows.has(e.id))||this.rebuild(i);for(let e of i)this.fill(this.rows.get(e.id),e);_(this.note,r.length>Ws?`and ${r.length-Ws} more: find one by its name, or select it in the scene.`:this.model.request.devices.length?``:`There is no device yet: add one.`)}rebuild(e){this.rows.clear();for(let t of e){let e=()=>this.model.select(`device:${t.id}`),n=h(`th`,{scope:`row`},h(`button`,{type:`button`,class:`plain`,onclick:e},t.id));this.rows.set(t.id,h(`tr`,{onclick:e},n,...Gs.slice(1).map(()=>h(`td`))))}g(this.body,...this.rows.values()),this.markSelected()}fill(e,t){e.classList.toggle(`off`,!t.active);let n=t.active?[na(t.iterations),Qi(t.power_w),Zi(t.cpu_hz),Xi(t.delay_s??0)]:[(t.reason??``).replaceAll(`_`,` `)];e.cells[1].colSpan=Gs.length-n.length,Gs.slice(1).forEach((t,r)=>{let i=e.cells[r+1];i.hidden=r>=n.length,_(i,n[r]??``)})}markSelected(){let{selected:e}=this.model;[`server`,`planned`].forEach((t,n)=>this.servers[n].setAttribute(`aria-pressed`,String(e===t)));for(let[t,n]of this.rows)n.classList.toggle(`selected`,e===`device:${t}`)}},qs=e=>`${e.filter(e=>e.active).length} of ${ea(e.length,`device`)}`,Js=600,Ys=class{past=[];future=[];lastEdit=-1/0;record(e,t=!1){let n=performance.now();(t||n-this.lastEdit>Js)&&(this.past=[...this.past.slice(-99),e]),this.future=[],this.lastEdit=t?-1/0:n}undo(e){return this.step(this.past,this.future,e)}redo(e){return this.step(this.future,this.past,e)}step(e,t,n){let r=e.pop();return r===void 0?null:(t.push(n),this.lastEdit=-1/0,r)}get canUndo(){return this.past.length>0}get canRedo(){return this.future.length>0}},Xs=e=>e===`request`||e===`network`,Zs={kind:`request`,name:`network`,scenario:null,round:0,rounds:0},Qs=class{request;plan=null;whatIf=null;whatIfPlan=null;source=Zs;history=new Ys;selected=null;version=0;cachedText=null;listeners=new Set;onChange(e){this.listeners.add(e)}notify(e){this.listeners.forEach(t=>t(e))}load(e,t){this.request&&this.history.record(this.snapshot(),!0),[this.selected,this.whatIf,this.whatIfPlan]=[null,null,null],this.replace({text:JSON.stringify(e),source:t})}get name(){return this.source.name}snapshot(){return{source:this.source,text:this.requestText()}}undo(){let e=this.history.undo(this.snapshot());e&&this.replace(e)}redo(){let e=this.history.redo(this.snapshot());e&&this.replace(e)}replace({text:e,source:t}){this.request=JSON.parse(e),this.source={kind:t.kind,name:t.name,scenario:t.scenario,round:t.round,rounds:t.rounds,example:t.example??null},this.selected&&!this.position(this.selected)&&(this.selected=null),[this.plan,this.whatIfPlan]=[null,null],this.version++,this.notify(`network`)}change(e){this.history.record(this.snapshot()),e(this.request),this.source.example&&(this.source={...this.source,example:null}),this.version++,this.notify(`request`)}select(e){e!==this.selected&&(this.selected=e,this.notify(`selection`))}setWhatIf(e){(e!==null||this.whatIf!==null)&&(this.whatIf=e,e===null&&(this.whatIfPlan=null),this.notify(`what-if`),e===null&&this.selected===`planned`&&this.select(null))}get shownPlan(){return this.whatIf?this.whatIfPlan??this.plan:this.plan}requestText(){return this.cachedText?.version!==this.version&&(this.cachedText={version:this.version,text:JSON.stringify(this.request)}),this.cachedText.text}device(e=this.selected){return this.request.devices.find(t=>`device:${t.id}`===e)}position(e){let[t,n]=$s(e);if(t===`server`)return this.request.server.position_m;if(t===`planned`)return this.whatIf??this.plan?.server.position_m??null;if(t===`device`)return this.device(e)?.position_m??null;if(t===`candidate`)return this.request.candidates_m?.[Number(n)]??null;let r=this.request.keep_out_m[Number(n)];return r?tc(r):null}move(e,t){if(!this.position(e))return;let[n,r]=$s(e);n===`planned`?this.setWhatIf(t):this.change(i=>{n===`server`?i.server.position_m=t:n===`device`?this.device(e).position_m=t:n===`candidate`?i.candidates_m[Number(r)]=t:i.keep_out_m[Number(r)]=nc(i.keep_out_m[Number(r)],t,i.region_m)})}addDevice(){let{devices:e,region_m:t}=this.request,n=new Set(e.map(e=>e.id)),r=e.length+1;for(;n.has(`d${r}`);)r++;let i=this.device()??e[e.length-1],a=r*2.399963,o=.12*Math.sqrt(r%12+1),s=[ec(t[0]*(.5+o*Math.cos(a))),ec(t[1]*(.5+o*Math.sin(a))),0],c={...structuredClone(i??{}),id:`d${r}`,position_m:s};this.change(e=>e.devices.push(c)),this.select(`device:${c.id}`)}addBox(){let[e,t,n]=this.request.region_m,r=[.4*e,.4*t,0,.6*e,.6*t,.4*n].map(ec);this.change(e=>e.keep_out_m.push(r)),this.select(`box:${this.request.keep_out_m.length-1}`)}addCandidate(){let e=(this.plan?.server.position_m??this.request.server.position_m).map(ec);this.change(t=>(t.candidates_m??=[]).push(e)),this.select(`candidate:${this.request.candidates_m.length-1}`)}remove(e=this.selected){if(e===`planned`&&this.setWhatIf(null),!e||e===`server`||e===`planned`)return;let[t,n]=$s(e);this.change(e=>{t===`device`?e.devices=e.devices.filter(e=>e.id!==n):t===`box`?e.keep_out_m.splice(Number(n),1):(e.candidates_m.splice(Number(n),1),e.candidates_m.length||(e.candidates_m=null))}),this.select(null)}};function $s(e){let t=e.indexOf(`:`);return t<0?[e,``]:[e.slice(0,t),e.slice(t+1)]}var ec=e=>Math.round(10*e)/10,tc=e=>[0,1,2].map(t=>(e[t]+e[t+3])/2);function nc(e,t,n){let r=tc(e),i=[0,1,2].map(i=>{let a=(e[i+3]-e[i])/2;return Math.min(Math.max(t[i],a),n[i]-a)-r[i]});return e.map((e,t)=>ec(e+i[t%3]))}function rc(e,t){let[n,r]=[-e,0],i=()=>{n=performance.now(),r=0,t()};return()=>{if(r)return;let t=n+e-performance.now();t<=0?i():r=window.setTimeout(i,t)}}function ic(e,t){let[n,r,i]=[!1,!1,0],a=async()=>{if(n){r=!0;return}n=!0;let o=i+e-performance.now();o>0&&await new Promise(e=>setTimeout(e,o)),r=!1,i=performance.now();try{await t()}finally{n=!1,r&&a()}};return()=>void a()}var ac=`scdn-draft`,oc=400;function sc(e){let t=rc(oc,()=>{try{localStorage.setItem(ac,JSON.stringify(e.snapshot()))}catch{localStorage.removeItem(ac)}});e.onChange(e=>{Xs(e)&&t()})}async function cc(e){let t=localStorage.getItem(ac);if(!t)return!1;try{let n=JSON.parse(t),{request:r}=await m.open(`draft.json`,n.text);return e.load(r,n.source),!0}catch{return!1}}var lc=12,uc=class{model;element;faults=h(`div`,{class:`faults`,role:`alert`,hidden:!0});fileName=h(`span`,{class:`file`});round=h(`label`,{class:`row`,hidden:!0});examples=h(`select`,{"aria-label":`Examples`},h(`option`,{value:``},`Examples …`));known=[];deviceCount=h(`span`,{});undo=S(`Undo`,()=>this.model.undo(),{icon:`undo`,quiet:!0,class:`step`,title:`Undo (Ctrl+Z)`});redo=S(`Redo`,()=>this.model.redo(),{icon:`redo`,quiet:!0,class:`step`,title:`Redo (Ctrl+Shift+Z)`});constructor(e){this.model=e,this.element=h(`section`,{class:`files`},h(`div`,{class:`row`},h(`h2`,{},`Network`),this.fileName,this.undo,this.redo),h(`div`,{class:`buttons`},this.examples,S(`Load`,()=>T(`.json,.toml,.csv`,(e,t)=>void this.open(e,t)),{icon:`open`,title:`Load a plan request, a scenario or a CSV of devices`})),this.round,h(`div`,{class:`buttons three`},S(`Request`,()=>this.saveRequest(),{icon:`save`,title:`Save as a plan request`}),S(`Scenario`,()=>void this.saveScenario(),{icon:`save`,title:`Save as a scenario`}),S(`Command`,()=>void this.copyCommand(),{icon:`copy`,title:`Copy as a scdn plan command`})),h(`div`,{class:`buttons`},S(`Add a device`,()=>e.addDevice(),{icon:`plus`}),this.deviceCount)),e.onChange(t=>{Xs(t)&&(_(this.deviceCount,ea(e.request.devices.length,`device`)),this.undo.disabled=!e.history.canUndo,this.redo.disabled=!e.history.canRedo,t===`network`&&this.showSource())})}async start(){this.known=await m.examples();for(let{name:e}of this.known)this.examples.append(h(`option`,{value:e},e));this.examples.addEventListener(`change`,()=>{this.examples.value&&this.openExample(this.examples.value),this.examples.value=``});let{view:e,parameters:t}=a(),n=e===`plan`?t.get(`network`):null,r=await cc(this.model);n&&this.known.some(({name:e})=>e===n)?await this.openExample(n,Number(t.get(`round`)??0),!0):r?C(`The network of your last visit. Examples start anew.`):await this.openExample(`request.json`,0,!0),sc(this.model)}async openExample(e,t=0,n=!1){let r=this.known.find(t=>t.name===e),{source:i}=this.model;r?n&&i.example===e&&i.round===t||await this.open(e,r.text,t,{example:e,quiet:n}):C(`There is no example called ${e}.`,`fault`)}acceptDrops(e){e.addEventListener(`dragover`,t=>{t.preventDefault(),e.classList.add(`dropping`)}),e.addEventListener(`dragleave`,()=>e.classList.remove(`dropping`)),e.addEventListener(`drop`,async t=>{t.preventDefault(),e.classList.remove(`dropping`);let n=t.dataTransfer?.files[0];n&&await this.open(n.name,await n.text())})}async open(e,t,n=0,{example:r=null,quiet:i=!1}={}){try{let a=e.toLowerCase().endsWith(`.csv`)?{...this.model.source,...await m.devices(e,t,this.model.request),warnings:[]}:await m.open(e,t,n);g(this.faults),this.faults.hidden=!0,this.model.load(a.request,{...a,example:r});for(let e of a.warnings.slice(0,3))C(e);n===0&&!i&&C(`${e}: ${ea(a.request.devices.length,`device`)}`)}catch(t){t instanceof l&&this.showFaults(e,t)}}showSource(){let e=this.model.source;if(_(this.fileName,e.kind===`scenario`?`${e.name}, round ${e.round}`:e.name),this.round.hidden=e.kind===`request`,e.kind===`scenario`){let t=h(`input`,{type:`number`,min:0,max:e.rounds,value:String(e.round),"aria-label":`Round`,onchange:()=>void this.open(`${e.name}.toml`,e.scenario,Number(t.value),{example:e.example})});g(this.round,h(`span`,{},`Round of ${e.rounds}`),t)}}showFaults(e,t){let n=t.faults.length-lc,r=O(t.faults,lc);n>0&&r.push(h(`li`,{},`and ${n} more.`)),this.showList(`${e} was not loaded`,r,`The network below is unchanged.`,``)}showList(e,t,n,r){g(this.faults,h(`header`,{},h(`strong`,{},e),S(`Close`,()=>{this.faults.hidden=!0},{icon:`cross`,quiet:!0})),h(`ul`,{},...t),h(`p`,{class:`hint`},n)),this.faults.className=`faults ${r}`.trim(),this.faults.hidden=!1}saveRequest(){w(`${this.model.name}.json`,JSON.stringify(this.model.request,null,2),`application/json`)}async scenarioText(){let{text:e,lost:t}=await m.scenario(this.model.request,this.model.source.scenario,this.model.name);return t.length&&C(`A scenario does not keep:\n${t.join(`
`)}`),e}async saveScenario(){try{let{text:e,lost:t}=await m.scenario(this.model.request,this.model.source.scenario,this.model.name);w(`${this.model.name}.toml`,e,`application/toml`),t.length&&this.showList(`${this.model.name}.toml was saved; a scenario does not keep`,t.map(e=>h(`li`,{},e)),`Save a plan request to keep everything.`,`note`)}catch(e){e instanceof l&&C(e.message,`fault`)}}async copyCommand(){let e=`scdn plan - <<'REQUEST'\n${JSON.stringify(this.model.request,null,1)}\nREQUEST\n`;try{await navigator.clipboard.writeText(e),C(`Copied: paste it into a terminal`)}catch{w(`plan.sh`,e,`text/x-shellscript`),C(`The clipboard is not available: saved as plan.sh`)}}},dc={allowed:`a number`,accepts:()=>!0},fc={allowed:`more than 0`,accepts:e=>e>0},pc={allowed:`at least 0`,accepts:e=>e>=0},mc={allowed:`from 0 to 1`,accepts:e=>e>=0&&e<=1},hc={allowed:`a whole number, at least 0`,accepts:e=>Number.isInteger(e)&&e>=0},gc=e=>({allowed:`from 0 to ${e}`,accepts:t=>t>=0&&t<=e});function _c(e,t,n){let r=Number(t);return t.trim()===``||!Number.isFinite(r)?`${e} must be ${dc.allowed}; ${t.trim()||`an empty field`} was refused.`:n.accepts(r)?null:`${e} must be ${n.allowed}; ${t} was refused.`}var vc=class{label;rule;current;set;input;message=h(`p`,{class:`refusal`,role:`alert`,hidden:!0});constructor(e,t,n,r,i={}){this.label=e,this.rule=t,this.current=n,this.set=r,this.input=h(`input`,{type:`number`,step:`any`,"aria-label":e,value:yc(n()),onchange:()=>this.accept(),oninput:()=>{i.whileTyping&&this.acceptSilently()},onkeydown:e=>this.key(e,i.step),...i.attributes})}show(e){this.clear(),document.activeElement!==this.input&&(this.input.value=yc(e))}accept(){let e=this.input.value,t=_c(this.label.replace(/, number$/,``),e,this.rule);t===null?(this.clear(),this.set(Number(e))):(this.input.value=yc(this.current()),this.message.textContent=t,this.message.hidden=!1)}acceptSilently(){_c(this.label,this.input.value,this.rule)===null&&this.set(Number(this.input.value))}key(e,t){let n={ArrowUp:1,ArrowDown:-1}[e.key];n&&t&&(e.preventDefault(),this.input.value=yc(Number(this.input.value)+n*t),this.accept())}clear(){this.message.hidden=!0}},yc=e=>String(Number(e.toPrecision(6))),bc=[[`max_power_w`,`Transmit limit, W`,.01,pc],[`importance`,`Importance`,.1,pc],[`survival`,`Survival`,.01,mc],[`payload_bits`,`Payload, bits`,1e3,pc]],xc=class{model;element=h(`section`,{class:`inspector`,"aria-label":`Selected`});shownKey=``;constructor(e){this.model=e;let t=rc(150,()=>window.setTimeout(()=>this.show()));e.onChange(e=>e===`selection`?this.show():t())}show(){let e=this.model.selected,t=this.model.device();if(this.element.contains(document.activeElement)&&document.activeElement instanceof HTMLInputElement&&e===this.shownKey)return;this.shownKey=e??``;let n=e?this.model.position(e):null;if(!e||!n){g(this.element,h(`p`,{class:`hint`},`Drag a device or a server; hold Shift to move it up and down. Select one to edit its numbers.`));return}let r=e.startsWith(`box:`)?`centre `:``;g(this.element,h(`header`,{},h(`h3`,{},Sc(e)),e===`server`||e===`planned`?null:S(`Remove`,()=>this.model.remove(e),{icon:`cross`})),e===`planned`?h(`p`,{class:`hint`},`Move it to see what another place would cost; Escape brings it back.`):null,h(`div`,{class:`fields`,"data-count":3},...[`x`,`y`,`z`].map((t,n)=>this.field(`${r}${t}, m`,()=>this.model.position(e)?.[n]??0,1,gc(this.model.request.region_m[n]),t=>{let r=[...this.model.position(e)];r[n]=t,this.model.move(e,r)}))),t?h(`div`,{class:`fields`,"data-count":2},...bc.map(([n,r,i,a])=>this.field(r,()=>(this.model.device(e)??t)[n],i,a,t=>this.model.change(()=>{this.model.device(e)[n]=t})))):null)}field(e,t,n,r,i){let{input:a,message:o}=new vc(e,r,t,i,{step:n,whileTyping:!0,attributes:{"data-step":n}});return h(`label`,{class:`field`},h(`span`,{},e),a,o)}};function Sc(e){if(e===`server`)return`Server, before the round`;if(e===`planned`)return`Planned server`;let[t,n]=[e.slice(0,e.indexOf(`:`)),e.slice(e.indexOf(`:`)+1)];return t===`device`?n:`${t===`box`?`Keep-out box`:`Candidate site`} ${Number(n)+1}`}function Cc(e,t){e.setTop(t.get(`view`)===`top`),e.setCamera(t.get(`camera`))}function wc(e,t){let n=()=>{let n=a();n.view===t&&n.parameters.size&&Cc(e,n.parameters)};n(),addEventListener(`hashchange`,n),e.onCamera(()=>s(t,{view:e.top?`top`:null,camera:e.cameraText()}))}var Tc=400,Ec=class{model;files;choices;finder;rivals;viewport;restored=!1;constructor(e,t,n,r,i,a){this.model=e,this.files=t,this.choices=n,this.finder=r,this.rivals=i,this.viewport=a}write=rc(Tc,()=>{let{model:e}=this;if(!this.restored||!e.request)return;let t=this.viewport(),{example:n,round:r}=e.source;s(`plan`,{network:n??null,round:n&&r?String(r):null,...this.choices.address(),...this.finder.address(),rivals:this.rivals.enabled?`on`:null,selected:e.selected,server:e.whatIf?e.whatIf.join():null,view:t?.top?`top`:null,camera:t?.cameraText()??null})});async restore(e){this.restored=!1;let{model:t}=this,n=e.get(`network`);if(n&&await this.files.openExample(n,Number(e.get(`round`)??0),!0),!t.request)return;this.choices.restore(e),this.finder.restore(e),this.rivals.setEnabled(e.get(`rivals`)===`on`),t.setWhatIf(Dc(e.get(`server`),t.request.region_m));let r=e.get(`selected`);t.select(r===`planned`||r&&t.position(r)?r:null);let i=this.viewport();i&&Cc(i,e),this.restored=!0,this.write()}};function Dc(e,t){let n=(e??``).split(`,`).map(Number);return e!==null&&n.length===3&&n.every((e,n)=>e>=0&&e<=t[n])?n:null}var Oc={LEFT:0,MIDDLE:1,RIGHT:2,ROTATE:0,DOLLY:1,PAN:2},kc={ROTATE:0,PAN:1,DOLLY_PAN:2,DOLLY_ROTATE:3},Ac=1e3,jc=1001,Mc=1002,Nc=1003,Pc=1004,Fc=1005,Ic=1006,Lc=1007,Rc=1008,zc=1009,Bc=1010,Vc=1011,Hc=1012,Uc=1013,Wc=1014,Gc=1015,Kc=1016,qc=1017,Jc=1018,Yc=1020,Xc=35902,Zc=35899,Qc=1021,$c=1022,el=1023,tl=1026,nl=1027,rl=1028,il=1029,al=1030,ol=1031,sl=1033,cl=33776,ll=33777,ul=33778,dl=33779,fl=35840,pl=35841,ml=35842,hl=35843,gl=36196,_l=37492,vl=37496,yl=37488,bl=37489,xl=37490,Sl=37491,Cl=37808,wl=37809,Tl=37810,El=37811,Dl=37812,Ol=37813,kl=37814,Al=37815,jl=37816,Ml=37817,Nl=37818,Pl=37819,Fl=37820,Il=37821,Ll=36492,Rl=36494,zl=36495,Bl=36283,Vl=36284,Hl=36285,Ul=36286,Wl=2300,Gl=2301,Kl=2302,ql=2303,Jl=2400,Yl=2401,Xl=2402,Zl=3200,Ql=`srgb`,$l=`srgb-linear`,eu=`linear`,tu=`srgb`,nu=7680,ru=35044,iu=2e3;function au(e){for(let t=e.length-1;t>=0;--t)if(e[t]>=65535)return!0;return!1}function ou(e){return ArrayBuffer.isView(e)&&!(e instanceof DataView)}function su(e){return document.createElementNS(`http://www.w3.org/1999/xhtml`,e)}function cu(){let e=su(`canvas`);return e.style.display=`block`,e}var lu={};function uu(...e){let t=`THREE.`+e.shift();console.log(t,...e)}function du(e){let t=e[0];if(typeof t==`string`&&t.startsWith(`TSL:`)){let t=e[1];t&&t.isStackTrace?e[0]+=` `+t.getLocation():e[1]=`Stack trace not available. Enable "THREE.Node.captureStackTrace" to capture stack traces.`}return e}function G(...e){e=du(e);let t=`THREE.`+e.shift();{let n=e[0];n&&n.isStackTrace?console.warn(n.getError(t)):console.warn(t,...e)}}function K(...e){e=du(e);let t=`THREE.`+e.shift();{let n=e[0];n&&n.isStackTrace?console.error(n.getError(t)):console.error(t,...e)}}function fu(...e){let t=e.join(` `);t in lu||(lu[t]=!0,G(...e))}function pu(e,t,n){return new Promise(function(r,i){function a(){switch(e.clientWaitSync(t,e.SYNC_FLUSH_COMMANDS_BIT,0)){case e.WAIT_FAILED:i();break;case e.TIMEOUT_EXPIRED:setTimeout(a,n);break;default:r()}}setTimeout(a,n)})}var mu={0:0,2:6,4:4,3:5,1:1,6:2,7:7,5:3},hu=class{addEventListener(e,t){this._listeners===void 0&&(this._listeners={});let n=this._listeners;n[e]===void 0&&(n[e]=[]),n[e].indexOf(t)===-1&&n[e].push(t)}hasEventListener(e,t){let n=this._listeners;return n!==void 0&&n[e]!==void 0&&n[e].indexOf(t)!==-1}removeEventListener(e,t){let n=this._listeners;if(n===void 0)return;let r=n[e];if(r!==void 0){let e=r.indexOf(t);e!==-1&&r.splice(e,1)}}dispatchEvent(e){let t=this._listeners;if(t===void 0)return;let n=t[e.type];if(n!==void 0){e.target=this;let t=n.slice(0);for(let n=0,r=t.length;n<r;n++)t[n].call(this,e);e.target=null}}},gu=`00.01.02.03.04.05.06.07.08.09.0a.0b.0c.0d.0e.0f.10.11.12.13.14.15.16.17.18.19.1a.1b.1c.1d.1e.1f.20.21.22.23.24.25.26.27.28.29.2a.2b.2c.2d.2e.2f.30.31.32.33.34.35.36.37.38.39.3a.3b.3c.3d.3e.3f.40.41.42.43.44.45.46.47.48.49.4a.4b.4c.4d.4e.4f.50.51.52.53.54.55.56.57.58.59.5a.5b.5c.5d.5e.5f.60.61.62.63.64.65.66.67.68.69.6a.6b.6c.6d.6e.6f.70.71.72.73.74.75.76.77.78.79.7a.7b.7c.7d.7e.7f.80.81.82.83.84.85.86.87.88.89.8a.8b.8c.8d.8e.8f.90.91.92.93.94.95.96.97.98.99.9a.9b.9c.9d.9e.9f.a0.a1.a2.a3.a4.a5.a6.a7.a8.a9.aa.ab.ac.ad.ae.af.b0.b1.b2.b3.b4.b5.b6.b7.b8.b9.ba.bb.bc.bd.be.bf.c0.c1.c2.c3.c4.c5.c6.c7.c8.c9.ca.cb.cc.cd.ce.cf.d0.d1.d2.d3.d4.d5.d6.d7.d8.d9.da.db.dc.dd.de.df.e0.e1.e2.e3.e4.e5.e6.e7.e8.e9.ea.eb.ec.ed.ee.ef.f0.f1.f2.f3.f4.f5.f6.f7.f8.f9.fa.fb.fc.fd.fe.ff`.split(`.`),_u=1234567,vu=Math.PI/180,yu=180/Math.PI;function bu(){let e=Math.random()*4294967295|0,t=Math.random()*4294967295|0,n=Math.random()*4294967295|0,r=Math.random()*4294967295|0;return(gu[e&255]+gu[e>>8&255]+gu[e>>16&255]+gu[e>>24&255]+`-`+gu[t&255]+gu[t>>8&255]+`-`+gu[t>>16&15|64]+gu[t>>24&255]+`-`+gu[n&63|128]+gu[n>>8&255]+`-`+gu[n>>16&255]+gu[n>>24&255]+gu[r&255]+gu[r>>8&255]+gu[r>>16&255]+gu[r>>24&255]).toLowerCase()}function q(e,t,n){return Math.max(t,Math.min(n,e))}function xu(e,t){return(e%t+t)%t}function Su(e,t,n,r,i){return r+(e-t)*(i-r)/(n-t)}function Cu(e,t,n){return e===t?0:(n-e)/(t-e)}function wu(e,t,n){return(1-n)*e+n*t}function Tu(e,t,n,r){return wu(e,t,1-Math.exp(-n*r))}function Eu(e,t=1){return t-Math.abs(xu(e,t*2)-t)}function Du(e,t,n){return e<=t?0:e>=n?1:(e=(e-t)/(n-t),e*e*(3-2*e))}function Ou(e,t,n){return e<=t?0:e>=n?1:(e=(e-t)/(n-t),e*e*e*(e*(e*6-15)+10))}function ku(e,t){return e+Math.floor(Math.random()*(t-e+1))}function Au(e,t){return e+Math.random()*(t-e)}function ju(e){return e*(.5-Math.random())}function Mu(e){e!==void 0&&(_u=e);let t=_u+=1831565813;return t=Math.imul(t^t>>>15,t|1),t^=t+Math.imul(t^t>>>7,t|61),((t^t>>>14)>>>0)/4294967296}function Nu(e){return e*vu}function Pu(e){return e*yu}function Fu(e){return e>0&&Number.isInteger(e)&&2**Math.round(Math.log2(e))===e}function Iu(e){return 2**Math.ceil(Math.log(e)/Math.LN2)}function Lu(e){return 2**Math.floor(Math.log(e)/Math.LN2)}function Ru(e,t,n,r,i){let a=Math.cos,o=Math.sin,s=a(n/2),c=o(n/2),l=a((t+r)/2),u=o((t+r)/2),d=a((t-r)/2),f=o((t-r)/2),p=a((r-t)/2),m=o((r-t)/2);switch(i){case`XYX`:e.set(s*u,c*d,c*f,s*l);break;case`YZY`:e.set(c*f,s*u,c*d,s*l);break;case`ZXZ`:e.set(c*d,c*f,s*u,s*l);break;case`XZX`:e.set(s*u,c*m,c*p,s*l);break;case`YXY`:e.set(c*p,s*u,c*m,s*l);break;case`ZYZ`:e.set(c*m,c*p,s*u,s*l);break;default:G(`MathUtils: .setQuaternionFromProperEuler() encountered an unknown order: `+i)}}function zu(e){switch(e.constructor){case Uint32Array:return 4294967295;case Uint16Array:return 65535;case Uint8Array:case Uint8ClampedArray:return 255;case Int32Array:return 2147483647;case Int16Array:return 32767;case Int8Array:return 127;default:return}}function Bu(e,t){if(t.constructor===Float32Array)return e;let n=zu(t);if(n===void 0)throw Error(`THREE.MathUtils: Invalid component type.`);return Math.max(e/n,-1)}function Vu(e,t){if(t.constructor===Float32Array)return e;let n=zu(t);if(n===void 0)throw Error(`THREE.MathUtils: Invalid component type.`);return Math.round(e*n)}var Hu={DEG2RAD:vu,RAD2DEG:yu,generateUUID:bu,clamp:q,euclideanModulo:xu,mapLinear:Su,inverseLerp:Cu,lerp:wu,damp:Tu,pingpong:Eu,smoothstep:Du,smootherstep:Ou,randInt:ku,randFloat:Au,randFloatSpread:ju,seededRandom:Mu,degToRad:Nu,radToDeg:Pu,isPowerOfTwo:Fu,ceilPowerOfTwo:Iu,floorPowerOfTwo:Lu,setQuaternionFromProperEuler:Ru,normalize:Vu,denormalize:Bu},J=class{static{this.prototype.isVector2=!0}constructor(e=0,t=0){this.x=e,this.y=t}get width(){return this.x}set width(e){this.x=e}get height(){return this.y}set height(e){this.y=e}set(e,t){return this.x=e,this.y=t,this}setScalar(e){return this.x=e,this.y=e,this}setX(e){return this.x=e,this}setY(e){return this.y=e,this}setComponent(e,t){switch(e){case 0:this.x=t;break;case 1:this.y=t;break;default:throw Error(`THREE.Vector2: index is out of range: `+e)}return this}getComponent(e){switch(e){case 0:return this.x;case 1:return this.y;default:throw Error(`THREE.Vector2: index is out of range: `+e)}}clone(){return new this.constructor(this.x,this.y)}copy(e){return this.x=e.x,this.y=e.y,this}add(e){return this.x+=e.x,this.y+=e.y,this}addScalar(e){return this.x+=e,this.y+=e,this}addVectors(e,t){return this.x=e.x+t.x,this.y=e.y+t.y,this}addScaledVector(e,t){return this.x+=e.x*t,this.y+=e.y*t,this}sub(e){return this.x-=e.x,this.y-=e.y,this}subScalar(e){return this.x-=e,this.y-=e,this}subVectors(e,t){return this.x=e.x-t.x,this.y=e.y-t.y,this}multiply(e){return this.x*=e.x,this.y*=e.y,this}multiplyScalar(e){return this.x*=e,this.y*=e,this}divide(e){return this.x/=e.x,this.y/=e.y,this}divideScalar(e){return this.multiplyScalar(1/e)}applyMatrix3(e){let t=this.x,n=this.y,r=e.elements;return this.x=r[0]*t+r[3]*n+r[6],this.y=r[1]*t+r[4]*n+r[7],this}min(e){return this.x=Math.min(this.x,e.x),this.y=Math.min(this.y,e.y),this}max(e){return this.x=Math.max(this.x,e.x),this.y=Math.max(this.y,e.y),this}clamp(e,t){return this.x=q(this.x,e.x,t.x),this.y=q(this.y,e.y,t.y),this}clampScalar(e,t){return this.x=q(this.x,e,t),this.y=q(this.y,e,t),this}clampLength(e,t){let n=this.length();return this.divideScalar(n||1).multiplyScalar(q(n,e,t))}floor(){return this.x=Math.floor(this.x),this.y=Math.floor(this.y),this}ceil(){return this.x=Math.ceil(this.x),this.y=Math.ceil(this.y),this}round(){return this.x=Math.round(this.x),this.y=Math.round(this.y),this}roundToZero(){return this.x=Math.trunc(this.x),this.y=Math.trunc(this.y),this}negate(){return this.x=-this.x,this.y=-this.y,this}dot(e){return this.x*e.x+this.y*e.y}cross(e){return this.x*e.y-this.y*e.x}lengthSq(){return this.x*this.x+this.y*this.y}length(){return Math.sqrt(this.x*this.x+this.y*this.y)}manhattanLength(){return Math.abs(this.x)+Math.abs(this.y)}normalize(){return this.divideScalar(this.length()||1)}angle(){return Math.atan2(-this.y,-this.x)+Math.PI}angleTo(e){let t=Math.sqrt(this.lengthSq()*e.lengthSq());if(t===0)return Math.PI/2;let n=this.dot(e)/t;return Math.acos(q(n,-1,1))}distanceTo(e){return Math.sqrt(this.distanceToSquared(e))}distanceToSquared(e){let t=this.x-e.x,n=this.y-e.y;return t*t+n*n}manhattanDistanceTo(e){return Math.abs(this.x-e.x)+Math.abs(this.y-e.y)}setLength(e){return this.normalize().multiplyScalar(e)}lerp(e,t){return this.x+=(e.x-this.x)*t,this.y+=(e.y-this.y)*t,this}lerpVectors(e,t,n){return this.x=e.x+(t.x-e.x)*n,this.y=e.y+(t.y-e.y)*n,this}equals(e){return e.x===this.x&&e.y===this.y}fromArray(e,t=0){return this.x=e[t],this.y=e[t+1],this}toArray(e=[],t=0){return e[t]=this.x,e[t+1]=this.y,e}fromBufferAttribute(e,t){return this.x=e.getX(t),this.y=e.getY(t),this}rotateAround(e,t){let n=Math.cos(t),r=Math.sin(t),i=this.x-e.x,a=this.y-e.y;return this.x=i*n-a*r+e.x,this.y=i*r+a*n+e.y,this}random(){return this.x=Math.random(),this.y=Math.random(),this}*[Symbol.iterator](){yield this.x,yield this.y}},Uu=class{constructor(e=0,t=0,n=0,r=1){this.isQuaternion=!0,this._x=e,this._y=t,this._z=n,this._w=r}static slerpFlat(e,t,n,r,i,a,o){let s=n[r+0],c=n[r+1],l=n[r+2],u=n[r+3],d=i[a+0],f=i[a+1],p=i[a+2],m=i[a+3];if(u!==m||s!==d||c!==f||l!==p){let e=s*d+c*f+l*p+u*m;e<0&&(d=-d,f=-f,p=-p,m=-m,e=-e);let t=1-o;if(e<.9995){let n=Math.acos(e),r=Math.sin(n);t=Math.sin(t*n)/r,o=Math.sin(o*n)/r,s=s*t+d*o,c=c*t+f*o,l=l*t+p*o,u=u*t+m*o}else{s=s*t+d*o,c=c*t+f*o,l=l*t+p*o,u=u*t+m*o;let e=1/Math.sqrt(s*s+c*c+l*l+u*u);s*=e,c*=e,l*=e,u*=e}}e[t]=s,e[t+1]=c,e[t+2]=l,e[t+3]=u}static multiplyQuaternionsFlat(e,t,n,r,i,a){let o=n[r],s=n[r+1],c=n[r+2],l=n[r+3],u=i[a],d=i[a+1],f=i[a+2],p=i[a+3];return e[t]=o*p+l*u+s*f-c*d,e[t+1]=s*p+l*d+c*u-o*f,e[t+2]=c*p+l*f+o*d-s*u,e[t+3]=l*p-o*u-s*d-c*f,e}get x(){return this._x}set x(e){this._x=e,this._onChangeCallback()}get y(){return this._y}set y(e){this._y=e,this._onChangeCallback()}get z(){return this._z}set z(e){this._z=e,this._onChangeCallback()}get w(){return this._w}set w(e){this._w=e,this._onChangeCallback()}set(e,t,n,r){return this._x=e,this._y=t,this._z=n,this._w=r,this._onChangeCallback(),this}clone(){return new this.constructor(this._x,this._y,this._z,this._w)}copy(e){return this._x=e.x,this._y=e.y,this._z=e.z,this._w=e.w,this._onChangeCallback(),this}setFromEuler(e,t=!0){let n=e._x,r=e._y,i=e._z,a=e._order,o=Math.cos,s=Math.sin,c=o(n/2),l=o(r/2),u=o(i/2),d=s(n/2),f=s(r/2),p=s(i/2);switch(a){case`XYZ`:this._x=d*l*u+c*f*p,this._y=c*f*u-d*l*p,this._z=c*l*p+d*f*u,this._w=c*l*u-d*f*p;break;case`YXZ`:this._x=d*l*u+c*f*p,this._y=c*f*u-d*l*p,this._z=c*l*p-d*f*u,this._w=c*l*u+d*f*p;break;case`ZXY`:this._x=d*l*u-c*f*p,this._y=c*f*u+d*l*p,this._z=c*l*p+d*f*u,this._w=c*l*u-d*f*p;break;case`ZYX`:this._x=d*l*u-c*f*p,this._y=c*f*u+d*l*p,this._z=c*l*p-d*f*u,this._w=c*l*u+d*f*p;break;case`YZX`:this._x=d*l*u+c*f*p,this._y=c*f*u+d*l*p,this._z=c*l*p-d*f*u,this._w=c*l*u-d*f*p;break;case`XZY`:this._x=d*l*u-c*f*p,this._y=c*f*u-d*l*p,this._z=c*l*p+d*f*u,this._w=c*l*u+d*f*p;break;default:G(`Quaternion: .setFromEuler() encountered an unknown order: `+a)}return t===!0&&this._onChangeCallback(),this}setFromAxisAngle(e,t){let n=t/2,r=Math.sin(n);return this._x=e.x*r,this._y=e.y*r,this._z=e.z*r,this._w=Math.cos(n),this._onChangeCallback(),this}setFromRotationMatrix(e){let t=e.elements,n=t[0],r=t[4],i=t[8],a=t[1],o=t[5],s=t[9],c=t[2],l=t[6],u=t[10],d=n+o+u;if(d>0){let e=.5/Math.sqrt(d+1);this._w=.25/e,this._x=(l-s)*e,this._y=(i-c)*e,this._z=(a-r)*e}else if(n>o&&n>u){let e=2*Math.sqrt(1+n-o-u);this._w=(l-s)/e,this._x=.25*e,this._y=(r+a)/e,this._z=(i+c)/e}else if(o>u){let e=2*Math.sqrt(1+o-n-u);this._w=(i-c)/e,this._x=(r+a)/e,this._y=.25*e,this._z=(s+l)/e}else{let e=2*Math.sqrt(1+u-n-o);this._w=(a-r)/e,this._x=(i+c)/e,this._y=(s+l)/e,this._z=.25*e}return this._onChangeCallback(),this}setFromUnitVectors(e,t){let n=e.dot(t)+1;return n<1e-8?(n=0,Math.abs(e.x)>Math.abs(e.z)?(this._x=-e.y,this._y=e.x,this._z=0,this._w=n):(this._x=0,this._y=-e.z,this._z=e.y,this._w=n)):(this._x=e.y*t.z-e.z*t.y,this._y=e.z*t.x-e.x*t.z,this._z=e.x*t.y-e.y*t.x,this._w=n),this.normalize()}angleTo(e){return 2*Math.acos(Math.abs(q(this.dot(e),-1,1)))}rotateTowards(e,t){let n=this.angleTo(e);if(n===0)return this;let r=Math.min(1,t/n);return this.slerp(e,r),this}identity(){return this.set(0,0,0,1)}invert(){return this.conjugate()}conjugate(){return this._x*=-1,this._y*=-1,this._z*=-1,this._onChangeCallback(),this}dot(e){return this._x*e._x+this._y*e._y+this._z*e._z+this._w*e._w}lengthSq(){return this._x*this._x+this._y*this._y+this._z*this._z+this._w*this._w}length(){return Math.sqrt(this._x*this._x+this._y*this._y+this._z*this._z+this._w*this._w)}normalize(){let e=this.length();return e===0?(this._x=0,this._y=0,this._z=0,this._w=1):(e=1/e,this._x*=e,this._y*=e,this._z*=e,this._w*=e),this._onChangeCallback(),this}multiply(e){return this.multiplyQuaternions(this,e)}premultiply(e){return this.multiplyQuaternions(e,this)}multiplyQuaternions(e,t){let n=e._x,r=e._y,i=e._z,a=e._w,o=t._x,s=t._y,c=t._z,l=t._w;return this._x=n*l+a*o+r*c-i*s,this._y=r*l+a*s+i*o-n*c,this._z=i*l+a*c+n*s-r*o,this._w=a*l-n*o-r*s-i*c,this._onChangeCallback(),this}slerp(e,t){let n=e._x,r=e._y,i=e._z,a=e._w,o=this.dot(e);o<0&&(n=-n,r=-r,i=-i,a=-a,o=-o);let s=1-t;if(o<.9995){let e=Math.acos(o),c=Math.sin(e);s=Math.sin(s*e)/c,t=Math.sin(t*e)/c,this._x=this._x*s+n*t,this._y=this._y*s+r*t,this._z=this._z*s+i*t,this._w=this._w*s+a*t,this._onChangeCallback()}else this._x=this._x*s+n*t,this._y=this._y*s+r*t,this._z=this._z*s+i*t,this._w=this._w*s+a*t,this.normalize();return this}slerpQuaternions(e,t,n){return this.copy(e).slerp(t,n)}random(){let e=2*Math.PI*Math.random(),t=2*Math.PI*Math.random(),n=Math.random(),r=Math.sqrt(1-n),i=Math.sqrt(n);return this.set(r*Math.sin(e),r*Math.cos(e),i*Math.sin(t),i*Math.cos(t))}equals(e){return e._x===this._x&&e._y===this._y&&e._z===this._z&&e._w===this._w}fromArray(e,t=0){return this._x=e[t],this._y=e[t+1],this._z=e[t+2],this._w=e[t+3],this._onChangeCallback(),this}toArray(e=[],t=0){return e[t]=this._x,e[t+1]=this._y,e[t+2]=this._z,e[t+3]=this._w,e}fromBufferAttribute(e,t){return this._x=e.getX(t),this._y=e.getY(t),this._z=e.getZ(t),this._w=e.getW(t),this._onChangeCallback(),this}toJSON(){return this.toArray()}_onChange(e){return this._onChangeCallback=e,this}_onChangeCallback(){}*[Symbol.iterator](){yield this._x,yield this._y,yield this._z,yield this._w}},Y=class{static{this.prototype.isVector3=!0}constructor(e=0,t=0,n=0){this.x=e,this.y=t,this.z=n}set(e,t,n){return n===void 0&&(n=this.z),this.x=e,this.y=t,this.z=n,this}setScalar(e){return this.x=e,this.y=e,this.z=e,this}setX(e){return this.x=e,this}setY(e){return this.y=e,this}setZ(e){return this.z=e,this}setComponent(e,t){switch(e){case 0:this.x=t;break;case 1:this.y=t;break;case 2:this.z=t;break;default:throw Error(`THREE.Vector3: index is out of range: `+e)}return this}getComponent(e){switch(e){case 0:return this.x;case 1:return this.y;case 2:return this.z;default:throw Error(`THREE.Vector3: index is out of range: `+e)}}clone(){return new this.constructor(this.x,this.y,this.z)}copy(e){return this.x=e.x,this.y=e.y,this.z=e.z,this}add(e){return this.x+=e.x,this.y+=e.y,this.z+=e.z,this}addScalar(e){return this.x+=e,this.y+=e,this.z+=e,this}addVectors(e,t){return this.x=e.x+t.x,this.y=e.y+t.y,this.z=e.z+t.z,this}addScaledVector(e,t){return this.x+=e.x*t,this.y+=e.y*t,this.z+=e.z*t,this}sub(e){return this.x-=e.x,this.y-=e.y,this.z-=e.z,this}subScalar(e){return this.x-=e,this.y-=e,this.z-=e,this}subVectors(e,t){return this.x=e.x-t.x,this.y=e.y-t.y,this.z=e.z-t.z,this}multiply(e){return this.x*=e.x,this.y*=e.y,this.z*=e.z,this}multiplyScalar(e){return this.x*=e,this.y*=e,this.z*=e,this}multiplyVectors(e,t){return this.x=e.x*t.x,this.y=e.y*t.y,this.z=e.z*t.z,this}applyEuler(e){return this.applyQuaternion(Gu.setFromEuler(e))}applyAxisAngle(e,t){return this.applyQuaternion(Gu.setFromAxisAngle(e,t))}applyMatrix3(e){let t=this.x,n=this.y,r=this.z,i=e.elements;return this.x=i[0]*t+i[3]*n+i[6]*r,this.y=i[1]*t+i[4]*n+i[7]*r,this.z=i[2]*t+i[5]*n+i[8]*r,this}applyNormalMatrix(e){return this.applyMatrix3(e).normalize()}applyMatrix4(e){let t=this.x,n=this.y,r=this.z,i=e.elements,a=1/(i[3]*t+i[7]*n+i[11]*r+i[15]);return this.x=(i[0]*t+i[4]*n+i[8]*r+i[12])*a,this.y=(i[1]*t+i[5]*n+i[9]*r+i[13])*a,this.z=(i[2]*t+i[6]*n+i[10]*r+i[14])*a,this}applyQuaternion(e){let t=this.x,n=this.y,r=this.z,i=e.x,a=e.y,o=e.z,s=e.w,c=2*(a*r-o*n),l=2*(o*t-i*r),u=2*(i*n-a*t);return this.x=t+s*c+a*u-o*l,this.y=n+s*l+o*c-i*u,this.z=r+s*u+i*l-a*c,this}project(e){return this.applyMatrix4(e.matrixWorldInverse).applyMatrix4(e.projectionMatrix)}unproject(e){return this.applyMatrix4(e.projectionMatrixInverse).applyMatrix4(e.matrixWorld)}transformDirection(e){let t=this.x,n=this.y,r=this.z,i=e.elements;return this.x=i[0]*t+i[4]*n+i[8]*r,this.y=i[1]*t+i[5]*n+i[9]*r,this.z=i[2]*t+i[6]*n+i[10]*r,this.normalize()}divide(e){return this.x/=e.x,this.y/=e.y,this.z/=e.z,this}divideScalar(e){return this.multiplyScalar(1/e)}min(e){return this.x=Math.min(this.x,e.x),this.y=Math.min(this.y,e.y),this.z=Math.min(this.z,e.z),this}max(e){return this.x=Math.max(this.x,e.x),this.y=Math.max(this.y,e.y),this.z=Math.max(this.z,e.z),this}clamp(e,t){return this.x=q(this.x,e.x,t.x),this.y=q(this.y,e.y,t.y),this.z=q(this.z,e.z,t.z),this}clampScalar(e,t){return this.x=q(this.x,e,t),this.y=q(this.y,e,t),this.z=q(this.z,e,t),this}clampLength(e,t){let n=this.length();return this.divideScalar(n||1).multiplyScalar(q(n,e,t))}floor(){return this.x=Math.floor(this.x),this.y=Math.floor(this.y),this.z=Math.floor(this.z),this}ceil(){return this.x=Math.ceil(this.x),this.y=Math.ceil(this.y),this.z=Math.ceil(this.z),this}round(){return this.x=Math.round(this.x),this.y=Math.round(this.y),this.z=Math.round(this.z),this}roundToZero(){return this.x=Math.trunc(this.x),this.y=Math.trunc(this.y),this.z=Math.trunc(this.z),this}negate(){return this.x=-this.x,this.y=-this.y,this.z=-this.z,this}dot(e){return this.x*e.x+this.y*e.y+this.z*e.z}lengthSq(){return this.x*this.x+this.y*this.y+this.z*this.z}length(){return Math.sqrt(this.x*this.x+this.y*this.y+this.z*this.z)}manhattanLength(){return Math.abs(this.x)+Math.abs(this.y)+Math.abs(this.z)}normalize(){return this.divideScalar(this.length()||1)}setLength(e){return this.normalize().multiplyScalar(e)}lerp(e,t){return this.x+=(e.x-this.x)*t,this.y+=(e.y-this.y)*t,this.z+=(e.z-this.z)*t,this}lerpVectors(e,t,n){return this.x=e.x+(t.x-e.x)*n,this.y=e.y+(t.y-e.y)*n,this.z=e.z+(t.z-e.z)*n,this}cross(e){return this.crossVectors(this,e)}crossVectors(e,t){let n=e.x,r=e.y,i=e.z,a=t.x,o=t.y,s=t.z;return this.x=r*s-i*o,this.y=i*a-n*s,this.z=n*o-r*a,this}projectOnVector(e){let t=e.lengthSq();if(t===0)return this.set(0,0,0);let n=e.dot(this)/t;return this.copy(e).multiplyScalar(n)}projectOnPlane(e){return Wu.copy(this).projectOnVector(e),this.sub(Wu)}reflect(e){return this.sub(Wu.copy(e).multiplyScalar(2*this.dot(e)))}angleTo(e){let t=Math.sqrt(this.lengthSq()*e.lengthSq());if(t===0)return Math.PI/2;let n=this.dot(e)/t;return Math.acos(q(n,-1,1))}distanceTo(e){return Math.sqrt(this.distanceToSquared(e))}distanceToSquared(e){let t=this.x-e.x,n=this.y-e.y,r=this.z-e.z;return t*t+n*n+r*r}manhattanDistanceTo(e){return Math.abs(this.x-e.x)+Math.abs(this.y-e.y)+Math.abs(this.z-e.z)}setFromSpherical(e){return this.setFromSphericalCoords(e.radius,e.phi,e.theta)}setFromSphericalCoords(e,t,n){let r=Math.sin(t)*e;return this.x=r*Math.sin(n),this.y=Math.cos(t)*e,this.z=r*Math.cos(n),this}setFromCylindrical(e){return this.setFromCylindricalCoords(e.radius,e.theta,e.y)}setFromCylindricalCoords(e,t,n){return this.x=e*Math.sin(t),this.y=n,this.z=e*Math.cos(t),this}setFromMatrixPosition(e){let t=e.elements;return this.x=t[12],this.y=t[13],this.z=t[14],this}setFromMatrixScale(e){let t=this.setFromMatrixColumn(e,0).length(),n=this.setFromMatrixColumn(e,1).length(),r=this.setFromMatrixColumn(e,2).length();return this.x=t,this.y=n,this.z=r,this}setFromMatrixColumn(e,t){return this.fromArray(e.elements,t*4)}setFromMatrix3Column(e,t){return this.fromArray(e.elements,t*3)}setFromEuler(e){return this.x=e._x,this.y=e._y,this.z=e._z,this}setFromColor(e){return this.x=e.r,this.y=e.g,this.z=e.b,this}equals(e){return e.x===this.x&&e.y===this.y&&e.z===this.z}fromArray(e,t=0){return this.x=e[t],this.y=e[t+1],this.z=e[t+2],this}toArray(e=[],t=0){return e[t]=this.x,e[t+1]=this.y,e[t+2]=this.z,e}fromBufferAttribute(e,t){return this.x=e.getX(t),this.y=e.getY(t),this.z=e.getZ(t),this}random(){return this.x=Math.random(),this.y=Math.random(),this.z=Math.random(),this}randomDirection(){let e=Math.random()*Math.PI*2,t=Math.random()*2-1,n=Math.sqrt(1-t*t);return this.x=n*Math.cos(e),this.y=t,this.z=n*Math.sin(e),this}*[Symbol.iterator](){yield this.x,yield this.y,yield this.z}},Wu=new Y,Gu=new Uu,X=class{static{this.prototype.isMatrix3=!0}constructor(e,t,n,r,i,a,o,s,c){this.elements=[1,0,0,0,1,0,0,0,1],e!==void 0&&this.set(e,t,n,r,i,a,o,s,c)}set(e,t,n,r,i,a,o,s,c){let l=this.elements;return l[0]=e,l[1]=r,l[2]=o,l[3]=t,l[4]=i,l[5]=s,l[6]=n,l[7]=a,l[8]=c,this}identity(){return this.set(1,0,0,0,1,0,0,0,1),this}copy(e){let t=this.elements,n=e.elements;return t[0]=n[0],t[1]=n[1],t[2]=n[2],t[3]=n[3],t[4]=n[4],t[5]=n[5],t[6]=n[6],t[7]=n[7],t[8]=n[8],this}extractBasis(e,t,n){return e.setFromMatrix3Column(this,0),t.setFromMatrix3Column(this,1),n.setFromMatrix3Column(this,2),this}setFromMatrix4(e){let t=e.elements;return this.set(t[0],t[4],t[8],t[1],t[5],t[9],t[2],t[6],t[10]),this}multiply(e){return this.multiplyMatrices(this,e)}premultiply(e){return this.multiplyMatrices(e,this)}multiplyMatrices(e,t){let n=e.elements,r=t.elements,i=this.elements,a=n[0],o=n[3],s=n[6],c=n[1],l=n[4],u=n[7],d=n[2],f=n[5],p=n[8],m=r[0],h=r[3],g=r[6],_=r[1],v=r[4],y=r[7],b=r[2],x=r[5],S=r[8];return i[0]=a*m+o*_+s*b,i[3]=a*h+o*v+s*x,i[6]=a*g+o*y+s*S,i[1]=c*m+l*_+u*b,i[4]=c*h+l*v+u*x,i[7]=c*g+l*y+u*S,i[2]=d*m+f*_+p*b,i[5]=d*h+f*v+p*x,i[8]=d*g+f*y+p*S,this}multiplyScalar(e){let t=this.elements;return t[0]*=e,t[3]*=e,t[6]*=e,t[1]*=e,t[4]*=e,t[7]*=e,t[2]*=e,t[5]*=e,t[8]*=e,this}determinant(){let e=this.elements,t=e[0],n=e[1],r=e[2],i=e[3],a=e[4],o=e[5],s=e[6],c=e[7],l=e[8];return t*a*l-t*o*c-n*i*l+n*o*s+r*i*c-r*a*s}invert(){let e=this.elements,t=e[0],n=e[1],r=e[2],i=e[3],a=e[4],o=e[5],s=e[6],c=e[7],l=e[8],u=l*a-o*c,d=o*s-l*i,f=c*i-a*s,p=t*u+n*d+r*f;if(p===0)return this.set(0,0,0,0,0,0,0,0,0);let m=1/p;return e[0]=u*m,e[1]=(r*c-l*n)*m,e[2]=(o*n-r*a)*m,e[3]=d*m,e[4]=(l*t-r*s)*m,e[5]=(r*i-o*t)*m,e[6]=f*m,e[7]=(n*s-c*t)*m,e[8]=(a*t-n*i)*m,this}transpose(){let e,t=this.elements;return e=t[1],t[1]=t[3],t[3]=e,e=t[2],t[2]=t[6],t[6]=e,e=t[5],t[5]=t[7],t[7]=e,this}getNormalMatrix(e){return this.setFromMatrix4(e).invert().transpose()}transposeIntoArray(e){let t=this.elements;return e[0]=t[0],e[1]=t[3],e[2]=t[6],e[3]=t[1],e[4]=t[4],e[5]=t[7],e[6]=t[2],e[7]=t[5],e[8]=t[8],this}setUvTransform(e,t,n,r,i,a,o){let s=Math.cos(i),c=Math.sin(i);return this.set(n*s,n*c,-n*(s*a+c*o)+a+e,-r*c,r*s,-r*(-c*a+s*o)+o+t,0,0,1),this}scale(e,t){return fu(`Matrix3: .scale() is deprecated. Use .makeScale() instead.`),this.premultiply(Ku.makeScale(e,t)),this}rotate(e){return fu(`Matrix3: .rotate() is deprecated. Use .makeRotation() instead.`),this.premultiply(Ku.makeRotation(-e)),this}translate(e,t){return fu(`Matrix3: .translate() is deprecated. Use .makeTranslation() instead.`),this.premultiply(Ku.makeTranslation(e,t)),this}makeTranslation(e,t){return e.isVector2?this.set(1,0,e.x,0,1,e.y,0,0,1):this.set(1,0,e,0,1,t,0,0,1),this}makeRotation(e){let t=Math.cos(e),n=Math.sin(e);return this.set(t,-n,0,n,t,0,0,0,1),this}makeScale(e,t){return this.set(e,0,0,0,t,0,0,0,1),this}equals(e){let t=this.elements,n=e.elements;for(let e=0;e<9;e++)if(t[e]!==n[e])return!1;return!0}fromArray(e,t=0){for(let n=0;n<9;n++)this.elements[n]=e[n+t];return this}toArray(e=[],t=0){let n=this.elements;return e[t]=n[0],e[t+1]=n[1],e[t+2]=n[2],e[t+3]=n[3],e[t+4]=n[4],e[t+5]=n[5],e[t+6]=n[6],e[t+7]=n[7],e[t+8]=n[8],e}clone(){return new this.constructor().fromArray(this.elements)}},Ku=new X,qu=new X().set(.4123908,.3575843,.1804808,.212639,.7151687,.0721923,.0193308,.1191948,.9505322),Ju=new X().set(3.2409699,-1.5373832,-.4986108,-.9692436,1.8759675,.0415551,.0556301,-.203977,1.0569715);function Yu(){let e={enabled:!0,workingColorSpace:$l,spaces:{},convert:function(e,t,n){return this.enabled===!1||t===n||!t||!n||(this.spaces[t].transfer===`srgb`&&(e.r=Zu(e.r),e.g=Zu(e.g),e.b=Zu(e.b)),this.spaces[t].primaries!==this.spaces[n].primaries&&(e.applyMatrix3(this.spaces[t].toXYZ),e.applyMatrix3(this.spaces[n].fromXYZ)),this.spaces[n].transfer===`srgb`&&(e.r=Qu(e.r),e.g=Qu(e.g),e.b=Qu(e.b))),e},workingToColorSpace:function(e,t){return this.convert(e,this.workingColorSpace,t)},colorSpaceToWorking:function(e,t){return this.convert(e,t,this.workingColorSpace)},getPrimaries:function(e){return this.spaces[e].primaries},getTransfer:function(e){return e===``?eu:this.spaces[e].transfer},getToneMappingMode:function(e){return this.spaces[e].outputColorSpaceConfig.toneMappingMode||`standard`},getLuminanceCoefficients:function(e,t=this.workingColorSpace){return e.fromArray(this.spaces[t].luminanceCoefficients)},define:function(e){Object.assign(this.spaces,e)},_getMatrix:function(e,t,n){return e.copy(this.spaces[n].fromXYZ).multiply(this.spaces[t].toXYZ)},_getDrawingBufferColorSpace:function(e){return this.spaces[e].outputColorSpaceConfig.drawingBufferColorSpace},_getUnpackColorSpace:function(e=this.workingColorSpace){return this.spaces[e].workingColorSpaceConfig.unpackColorSpace}},t=[.64,.33,.3,.6,.15,.06],n=[.2126,.7152,.0722],r=[.3127,.329];return e.define({[$l]:{primaries:t,whitePoint:r,transfer:eu,toXYZ:qu,fromXYZ:Ju,luminanceCoefficients:n,workingColorSpaceConfig:{unpackColorSpace:Ql},outputColorSpaceConfig:{drawingBufferColorSpace:Ql}},[Ql]:{primaries:t,whitePoint:r,transfer:tu,toXYZ:qu,fromXYZ:Ju,luminanceCoefficients:n,outputColorSpaceConfig:{drawingBufferColorSpace:Ql}}}),e}var Xu=Yu();function Zu(e){return e<.04045?e*.0773993808:(e*.9478672986+.0521327014)**2.4}function Qu(e){return e<.0031308?e*12.92:1.055*e**.41666-.055}var $u,ed=class{static getDataURL(e,t=`image/png`){if(/^data:/i.test(e.src)||typeof HTMLCanvasElement>`u`)return e.src;let n;if(e instanceof HTMLCanvasElement)n=e;else{$u===void 0&&($u=su(`canvas`)),$u.width=e.width,$u.height=e.height;let t=$u.getContext(`2d`);e instanceof ImageData?t.putImageData(e,0,0):t.drawImage(e,0,0,e.width,e.height),n=$u}return n.toDataURL(t)}static sRGBToLinear(e){if(typeof HTMLImageElement<`u`&&e instanceof HTMLImageElement||typeof HTMLCanvasElement<`u`&&e instanceof HTMLCanvasElement||typeof ImageBitmap<`u`&&e instanceof ImageBitmap){let t=su(`canvas`);t.width=e.width,t.height=e.height;let n=t.getContext(`2d`);n.drawImage(e,0,0,e.width,e.height);let r=n.getImageData(0,0,e.width,e.height),i=r.data;for(let e=0;e<i.length;e++)i[e]=Zu(i[e]/255)*255;return n.putImageData(r,0,0),t}if(e.data){let t=e.data.slice(0);for(let e=0;e<t.length;e++)t instanceof Uint8Array||t instanceof Uint8ClampedArray?t[e]=Math.floor(Zu(t[e]/255)*255):t[e]=Zu(t[e]);return{data:t,width:e.width,height:e.height}}return G(`ImageUtils.sRGBToLinear(): Unsupported image type. No color space conversion applied.`),e}},td=0,nd=class{constructor(e=null){this.isTextureSource=!0,Object.defineProperty(this,"id",{value:td++}),this.uuid=bu(),this.data=e,this.dataReady=!0,this.version=0}getSize(e){let t=this.data;return typeof HTMLVideoElement<`u`&&t instanceof HTMLVideoElement?e.set(t.videoWidth,t.videoHeight,0):typeof VideoFrame<`u`&&t instanceof VideoFrame?e.set(t.displayWidth,t.displayHeight,0):t===null?e.set(0,0,0):e.set(t.width||0,t.height||0,t.depth||0),e}set needsUpdate(e){e===!0&&this.version++}toJSON(e){let t=e===void 0||typeof e==`string`;if(!t&&e.images[this.uuid]!==void 0)return e.images[this.uuid];let n={uuid:this.uuid,url:``},r=this.data;if(r!==null){let e;if(Array.isArray(r)){e=[];for(let t=0,n=r.length;t<n;t++)r[t].isDataTexture?e.push(rd(r[t].image)):e.push(rd(r[t]))}else e=rd(r);n.url=e}return t||(e.images[this.uuid]=n),n}};function rd(e){return typeof HTMLImageElement<`u`&&e instanceof HTMLImageElement||typeof HTMLCanvasElement<`u`&&e instanceof HTMLCanvasElement||typeof ImageBitmap<`u`&&e instanceof ImageBitmap?ed.getDataURL(e):e.data?{data:Array.from(e.data),width:e.width,height:e.height,type:e.data.constructor.name}:(G(`Texture: Unable to serialize Texture.`),{})}var id=0,ad=new Y,od=class e extends hu{constructor(t=e.DEFAULT_IMAGE,n=e.DEFAULT_MAPPING,r=jc,i=jc,a=Ic,o=Rc,s=el,c=zc,l=e.DEFAULT_ANISOTROPY,u=``){super(),this.isTexture=!0,Object.defineProperty(this,"id",{value:id++}),this.uuid=bu(),this.name=``,this.source=new nd(t),this.mipmaps=[],this.mapping=n,this.channel=0,this.wrapS=r,this.wrapT=i,this.magFilter=a,this.minFilter=o,this.anisotropy=l,this.format=s,this.internalFormat=null,this.type=c,this.offset=new J(0,0),this.repeat=new J(1,1),this.center=new J(0,0),this.rotation=0,this.matrixAutoUpdate=!0,this.matrix=new X,this.generateMipmaps=!0,this.mipmapsAutoUpdate=!0,this.premultiplyAlpha=!1,this.flipY=!0,this.unpackAlignment=4,this.colorSpace=u,this.userData={},this.updateRanges=[],this.version=0,this.onUpdate=null,this.renderTarget=null,this.isRenderTargetTexture=!1,this.isArrayTexture=!!(t&&t.depth&&t.depth>1),this.pmremVersion=0,this.isPMREMTexture=!1,this.normalized=!1}get width(){return this.source.getSize(ad).x}get height(){return this.source.getSize(ad).y}get depth(){return this.source.getSize(ad).z}get image(){return this.source.data}set image(e){this.source.data=e}updateMatrix(){this.matrix.setUvTransform(this.offset.x,this.offset.y,this.repeat.x,this.repeat.y,this.rotation,this.center.x,this.center.y)}addUpdateRange(e,t){this.updateRanges.push({start:e,count:t})}clearUpdateRanges(){this.updateRanges.length=0}clone(){return new this.constructor().copy(this)}copy(e){return this.name=e.name,this.source=e.source,this.mipmaps=e.mipmaps.slice(0),this.mapping=e.mapping,this.channel=e.channel,this.wrapS=e.wrapS,this.wrapT=e.wrapT,this.magFilter=e.magFilter,this.minFilter=e.minFilter,this.anisotropy=e.anisotropy,this.format=e.format,this.internalFormat=e.internalFormat,this.type=e.type,this.normalized=e.normalized,this.offset.copy(e.offset),this.repeat.copy(e.repeat),this.center.copy(e.center),this.rotation=e.rotation,this.matrixAutoUpdate=e.matrixAutoUpdate,this.matrix.copy(e.matrix),this.generateMipmaps=e.generateMipmaps,this.mipmapsAutoUpdate=e.mipmapsAutoUpdate,this.premultiplyAlpha=e.premultiplyAlpha,this.flipY=e.flipY,this.unpackAlignment=e.unpackAlignment,this.colorSpace=e.colorSpace,this.renderTarget=e.renderTarget,this.isRenderTargetTexture=e.isRenderTargetTexture,this.isPMREMTexture=e.isPMREMTexture,this.isArrayTexture=e.isArrayTexture,this.userData=JSON.parse(JSON.stringify(e.userData)),this.needsUpdate=!0,this}setValues(e){for(let t in e){let n=e[t];if(n===void 0){G(`Texture.setValues(): parameter '${t}' has value of undefined.`);continue}let r=this[t];r===void 0?G(`Texture.setValues(): property '${t}' does not exist.`):r&&n&&r.isVector2&&n.isVector2||r&&n&&r.isVector3&&n.isVector3||r&&n&&r.isMatrix3&&n.isMatrix3?r.copy(n):this[t]=n}}toJSON(e){let t=e===void 0||typeof e==`string`;if(!t&&e.textures[this.uuid]!==void 0)return e.textures[this.uuid];let n={metadata:{version:4.7,type:`Texture`,generator:`Texture.toJSON`},uuid:this.uuid,name:this.name,image:this.source.toJSON(e).uuid,mapping:this.mapping,channel:this.channel,repeat:[this.repeat.x,this.repeat.y],offset:[this.offset.x,this.offset.y],center:[this.center.x,this.center.y],rotation:this.rotation,wrap:[this.wrapS,this.wrapT],format:this.format,internalFormat:this.internalFormat,type:this.type,normalized:this.normalized,colorSpace:this.colorSpace,minFilter:this.minFilter,magFilter:this.magFilter,anisotropy:this.anisotropy,flipY:this.flipY,generateMipmaps:this.generateMipmaps,mipmapsAutoUpdate:this.mipmapsAutoUpdate,premultiplyAlpha:this.premultiplyAlpha,unpackAlignment:this.unpackAlignment};return Object.keys(this.userData).length>0&&(n.userData=this.userData),t||(e.textures[this.uuid]=n),n}dispose(){this.dispatchEvent({type:`dispose`})}transformUv(e){if(this.mapping!==300)return e;if(e.applyMatrix3(this.matrix),e.x<0||e.x>1)switch(this.wrapS){case Ac:e.x-=Math.floor(e.x);break;case jc:e.x=e.x<0?0:1;break;case Mc:Math.abs(Math.floor(e.x)%2)===1?e.x=Math.ceil(e.x)-e.x:e.x-=Math.floor(e.x)}if(e.y<0||e.y>1)switch(this.wrapT){case Ac:e.y-=Math.floor(e.y);break;case jc:e.y=e.y<0?0:1;break;case Mc:Math.abs(Math.floor(e.y)%2)===1?e.y=Math.ceil(e.y)-e.y:e.y-=Math.floor(e.y)}return this.flipY&&(e.y=1-e.y),e}set needsUpdate(e){e===!0&&(this.version++,this.source.needsUpdate=!0)}set needsPMREMUpdate(e){e===!0&&this.pmremVersion++}};od.DEFAULT_IMAGE=null,od.DEFAULT_MAPPING=300,od.DEFAULT_ANISOTROPY=1;var sd=class{static{this.prototype.isVector4=!0}constructor(e=0,t=0,n=0,r=1){this.x=e,this.y=t,this.z=n,this.w=r}get width(){return this.z}set width(e){this.z=e}get height(){return this.w}set height(e){this.w=e}set(e,t,n,r){return this.x=e,this.y=t,this.z=n,this.w=r,this}setScalar(e){return this.x=e,this.y=e,this.z=e,this.w=e,this}setX(e){return this.x=e,this}setY(e){return this.y=e,this}setZ(e){return this.z=e,this}setW(e){return this.w=e,this}setComponent(e,t){switch(e){case 0:this.x=t;break;case 1:this.y=t;break;case 2:this.z=t;break;case 3:this.w=t;break;default:throw Error(`THREE.Vector4: index is out of range: `+e)}return this}getComponent(e){switch(e){case 0:return this.x;case 1:return this.y;case 2:return this.z;case 3:return this.w;default:throw Error(`THREE.Vector4: index is out of range: `+e)}}clone(){return new this.constructor(this.x,this.y,this.z,this.w)}copy(e){return this.x=e.x,this.y=e.y,this.z=e.z,this.w=e.w===void 0?1:e.w,this}add(e){return this.x+=e.x,this.y+=e.y,this.z+=e.z,this.w+=e.w,this}addScalar(e){return this.x+=e,this.y+=e,this.z+=e,this.w+=e,this}addVectors(e,t){return this.x=e.x+t.x,this.y=e.y+t.y,this.z=e.z+t.z,this.w=e.w+t.w,this}addScaledVector(e,t){return this.x+=e.x*t,this.y+=e.y*t,this.z+=e.z*t,this.w+=e.w*t,this}sub(e){return this.x-=e.x,this.y-=e.y,this.z-=e.z,this.w-=e.w,this}subScalar(e){return this.x-=e,this.y-=e,this.z-=e,this.w-=e,this}subVectors(e,t){return this.x=e.x-t.x,this.y=e.y-t.y,this.z=e.z-t.z,this.w=e.w-t.w,this}multiply(e){return this.x*=e.x,this.y*=e.y,this.z*=e.z,this.w*=e.w,this}multiplyScalar(e){return this.x*=e,this.y*=e,this.z*=e,this.w*=e,this}applyMatrix4(e){let t=this.x,n=this.y,r=this.z,i=this.w,a=e.elements;return this.x=a[0]*t+a[4]*n+a[8]*r+a[12]*i,this.y=a[1]*t+a[5]*n+a[9]*r+a[13]*i,this.z=a[2]*t+a[6]*n+a[10]*r+a[14]*i,this.w=a[3]*t+a[7]*n+a[11]*r+a[15]*i,this}divide(e){return this.x/=e.x,this.y/=e.y,this.z/=e.z,this.w/=e.w,this}divideScalar(e){return this.multiplyScalar(1/e)}setAxisAngleFromQuaternion(e){this.w=2*Math.acos(e.w);let t=Math.sqrt(1-e.w*e.w);return t<1e-4?(this.x=1,this.y=0,this.z=0):(this.x=e.x/t,this.y=e.y/t,this.z=e.z/t),this}setAxisAngleFromRotationMatrix(e){let t,n,r,i,a=.01,o=.1,s=e.elements,c=s[0],l=s[4],u=s[8],d=s[1],f=s[5],p=s[9],m=s[2],h=s[6],g=s[10];if(Math.abs(l-d)<a&&Math.abs(u-m)<a&&Math.abs(p-h)<a){if(Math.abs(l+d)<o&&Math.abs(u+m)<o&&Math.abs(p+h)<o&&Math.abs(c+f+g-3)<o)return this.set(1,0,0,0),this;t=Math.PI;let e=(c+1)/2,s=(f+1)/2,_=(g+1)/2,v=(l+d)/4,y=(u+m)/4,b=(p+h)/4;return e>s&&e>_?e<a?(n=0,r=.707106781,i=.707106781):(n=Math.sqrt(e),r=v/n,i=y/n):s>_?s<a?(n=.707106781,r=0,i=.707106781):(r=Math.sqrt(s),n=v/r,i=b/r):_<a?(n=.707106781,r=.707106781,i=0):(i=Math.sqrt(_),n=y/i,r=b/i),this.set(n,r,i,t),this}let _=Math.sqrt((h-p)*(h-p)+(u-m)*(u-m)+(d-l)*(d-l));return Math.abs(_)<.001&&(_=1),this.x=(h-p)/_,this.y=(u-m)/_,this.z=(d-l)/_,this.w=Math.acos((c+f+g-1)/2),this}setFromMatrixPosition(e){let t=e.elements;return this.x=t[12],this.y=t[13],this.z=t[14],this.w=t[15],this}min(e){return this.x=Math.min(this.x,e.x),this.y=Math.min(this.y,e.y),this.z=Math.min(this.z,e.z),this.w=Math.min(this.w,e.w),this}max(e){return this.x=Math.max(this.x,e.x),this.y=Math.max(this.y,e.y),this.z=Math.max(this.z,e.z),this.w=Math.max(this.w,e.w),this}clamp(e,t){return this.x=q(this.x,e.x,t.x),this.y=q(this.y,e.y,t.y),this.z=q(this.z,e.z,t.z),this.w=q(this.w,e.w,t.w),this}clampScalar(e,t){return this.x=q(this.x,e,t),this.y=q(this.y,e,t),this.z=q(this.z,e,t),this.w=q(this.w,e,t),this}clampLength(e,t){let n=this.length();return this.divideScalar(n||1).multiplyScalar(q(n,e,t))}floor(){return this.x=Math.floor(this.x),this.y=Math.floor(this.y),this.z=Math.floor(this.z),this.w=Math.floor(this.w),this}ceil(){return this.x=Math.ceil(this.x),this.y=Math.ceil(this.y),this.z=Math.ceil(this.z),this.w=Math.ceil(this.w),this}round(){return this.x=Math.round(this.x),this.y=Math.round(this.y),this.z=Math.round(this.z),this.w=Math.round(this.w),this}roundToZero(){return this.x=Math.trunc(this.x),this.y=Math.trunc(this.y),this.z=Math.trunc(this.z),this.w=Math.trunc(this.w),this}negate(){return this.x=-this.x,this.y=-this.y,this.z=-this.z,this.w=-this.w,this}dot(e){return this.x*e.x+this.y*e.y+this.z*e.z+this.w*e.w}lengthSq(){return this.x*this.x+this.y*this.y+this.z*this.z+this.w*this.w}length(){return Math.sqrt(this.x*this.x+this.y*this.y+this.z*this.z+this.w*this.w)}manhattanLength(){return Math.abs(this.x)+Math.abs(this.y)+Math.abs(this.z)+Math.abs(this.w)}normalize(){return this.divideScalar(this.length()||1)}setLength(e){return this.normalize().multiplyScalar(e)}lerp(e,t){return this.x+=(e.x-this.x)*t,this.y+=(e.y-this.y)*t,this.z+=(e.z-this.z)*t,this.w+=(e.w-this.w)*t,this}lerpVectors(e,t,n){return this.x=e.x+(t.x-e.x)*n,this.y=e.y+(t.y-e.y)*n,this.z=e.z+(t.z-e.z)*n,this.w=e.w+(t.w-e.w)*n,this}equals(e){return e.x===this.x&&e.y===this.y&&e.z===this.z&&e.w===this.w}fromArray(e,t=0){return this.x=e[t],this.y=e[t+1],this.z=e[t+2],this.w=e[t+3],this}toArray(e=[],t=0){return e[t]=this.x,e[t+1]=this.y,e[t+2]=this.z,e[t+3]=this.w,e}fromBufferAttribute(e,t){return this.x=e.getX(t),this.y=e.getY(t),this.z=e.getZ(t),this.w=e.getW(t),this}random(){return this.x=Math.random(),this.y=Math.random(),this.z=Math.random(),this.w=Math.random(),this}*[Symbol.iterator](){yield this.x,yield this.y,yield this.z,yield this.w}},cd=class extends hu{constructor(e=1,t=1,n={}){super(),n=Object.assign({generateMipmaps:!1,internalFormat:null,minFilter:Ic,depthBuffer:!0,stencilBuffer:!1,resolveColorBuffer:!0,resolveDepthBuffer:!0,resolveStencilBuffer:!0,storeMultisampledColorBuffer:!0,storeMultisampledDepthBuffer:!0,storeMultisampledStencilBuffer:!0,depthTexture:null,samples:0,count:1,depth:1,multiview:!1,useArrayDepthTexture:!1},n),this.isRenderTarget=!0,this.width=e,this.height=t,this.depth=n.depth,this.scissor=new sd(0,0,e,t),this.scissorTest=!1,this.viewport=new sd(0,0,e,t),this.textures=[];let r=n.count;for(let i=0;i<r;i++)this.textures[i]=new od({width:e,height:t,depth:n.depth}),this.textures[i].isRenderTargetTexture=!0,this.textures[i].renderTarget=this;this._setTextureOptions(n),this.depthBuffer=n.depthBuffer,this.stencilBuffer=n.stencilBuffer,this.resolveColorBuffer=n.resolveColorBuffer,this.resolveDepthBuffer=n.resolveDepthBuffer,this.resolveStencilBuffer=n.resolveStencilBuffer,this.storeMultisampledColorBuffer=n.storeMultisampledColorBuffer,this.storeMultisampledDepthBuffer=n.storeMultisampledDepthBuffer,this.storeMultisampledStencilBuffer=n.storeMultisampledStencilBuffer,this._depthTexture=null,this.depthTexture=n.depthTexture,this.samples=n.samples,this.multiview=n.multiview,this.useArrayDepthTexture=n.useArrayDepthTexture}_setTextureOptions(e={}){let t={minFilter:Ic,generateMipmaps:!1,flipY:!1,internalFormat:null};e.mapping!==void 0&&(t.mapping=e.mapping),e.wrapS!==void 0&&(t.wrapS=e.wrapS),e.wrapT!==void 0&&(t.wrapT=e.wrapT),e.wrapR!==void 0&&(t.wrapR=e.wrapR),e.magFilter!==void 0&&(t.magFilter=e.magFilter),e.minFilter!==void 0&&(t.minFilter=e.minFilter),e.format!==void 0&&(t.format=e.format),e.type!==void 0&&(t.type=e.type),e.anisotropy!==void 0&&(t.anisotropy=e.anisotropy),e.colorSpace!==void 0&&(t.colorSpace=e.colorSpace),e.flipY!==void 0&&(t.flipY=e.flipY),e.generateMipmaps!==void 0&&(t.generateMipmaps=e.generateMipmaps),e.mipmapsAutoUpdate!==void 0&&(t.mipmapsAutoUpdate=e.mipmapsAutoUpdate),e.internalFormat!==void 0&&(t.internalFormat=e.internalFormat);for(let e=0;e<this.textures.length;e++)this.textures[e].setValues(t)}get texture(){return this.textures[0]}set texture(e){this.textures[0]=e}set depthTexture(e){this._depthTexture!==null&&this._depthTexture.renderTarget===this&&(this._depthTexture.renderTarget=null),e!==null&&e.renderTarget===null&&(e.renderTarget=this),this._depthTexture=e}get depthTexture(){return this._depthTexture}setSize(e,t,n=1){if(this.width!==e||this.height!==t||this.depth!==n){this.width=e,this.height=t,this.depth=n;for(let r=0,i=this.textures.length;r<i;r++)this.textures[r].image.width=e,this.textures[r].image.height=t,this.textures[r].image.depth=n,this.textures[r].isData3DTexture!==!0&&(this.textures[r].isArrayTexture=this.textures[r].image.depth>1);this.dispose()}this.viewport.set(0,0,e,t),this.scissor.set(0,0,e,t)}clone(){return new this.constructor().copy(this)}copy(e){this.width=e.width,this.height=e.height,this.depth=e.depth,this.scissor.copy(e.scissor),this.scissorTest=e.scissorTest,this.viewport.copy(e.viewport),this.textures.length=0;for(let t=0,n=e.textures.length;t<n;t++){this.textures[t]=e.textures[t].clone(),this.textures[t].isRenderTargetTexture=!0,this.textures[t].renderTarget=this;let n=Object.assign({},e.textures[t].image);this.textures[t].source=new nd(n)}if(this.depthBuffer=e.depthBuffer,this.stencilBuffer=e.stencilBuffer,this.resolveColorBuffer=e.resolveColorBuffer,this.resolveDepthBuffer=e.resolveDepthBuffer,this.resolveStencilBuffer=e.resolveStencilBuffer,this.storeMultisampledColorBuffer=e.storeMultisampledColorBuffer,this.storeMultisampledDepthBuffer=e.storeMultisampledDepthBuffer,this.storeMultisampledStencilBuffer=e.storeMultisampledStencilBuffer,e.depthTexture!==null){if(e.depthTexture.renderTarget===e){let t=e.depthTexture.clone();t.renderTarget=null,this.depthTexture=t}else this.depthTexture=e.depthTexture}else this.depthTexture=null;return this.samples=e.samples,this.multiview=e.multiview,this.useArrayDepthTexture=e.useArrayDepthTexture,this}dispose(){this.dispatchEvent({type:`dispose`})}},ld=class extends cd{constructor(e=1,t=1,n={}){super(e,t,n),this.isWebGLRenderTarget=!0}},ud=class extends od{constructor(e=null,t=1,n=1,r=1){super(null),this.isDataArrayTexture=!0,this.image={data:e,width:t,height:n,depth:r},this.magFilter=Nc,this.minFilter=Nc,this.wrapR=jc,this.generateMipmaps=!1,this.flipY=!1,this.unpackAlignment=1,this.layerUpdates=new Set}copy(e){return super.copy(e),this.wrapR=e.wrapR,this}addLayerUpdate(e){this.layerUpdates.add(e)}clearLayerUpdates(){this.layerUpdates.clear()}},dd=class extends od{constructor(e=null,t=1,n=1,r=1){super(null),this.isData3DTexture=!0,this.image={data:e,width:t,height:n,depth:r},this.magFilter=Nc,this.minFilter=Nc,this.wrapR=jc,this.generateMipmaps=!1,this.flipY=!1,this.unpackAlignment=1}copy(e){return super.copy(e),this.wrapR=e.wrapR,this}},fd=class e{static{this.prototype.isMatrix4=!0}constructor(e,t,n,r,i,a,o,s,c,l,u,d,f,p,m,h){this.elements=[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1],e!==void 0&&this.set(e,t,n,r,i,a,o,s,c,l,u,d,f,p,m,h)}set(e,t,n,r,i,a,o,s,c,l,u,d,f,p,m,h){let g=this.elements;return g[0]=e,g[4]=t,g[8]=n,g[12]=r,g[1]=i,g[5]=a,g[9]=o,g[13]=s,g[2]=c,g[6]=l,g[10]=u,g[14]=d,g[3]=f,g[7]=p,g[11]=m,g[15]=h,this}identity(){return this.set(1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1),this}clone(){return new e().fromArray(this.elements)}copy(e){let t=this.elements,n=e.elements;return t[0]=n[0],t[1]=n[1],t[2]=n[2],t[3]=n[3],t[4]=n[4],t[5]=n[5],t[6]=n[6],t[7]=n[7],t[8]=n[8],t[9]=n[9],t[10]=n[10],t[11]=n[11],t[12]=n[12],t[13]=n[13],t[14]=n[14],t[15]=n[15],this}copyPosition(e){let t=this.elements,n=e.elements;return t[12]=n[12],t[13]=n[13],t[14]=n[14],this}setFromMatrix3(e){let t=e.elements;return this.set(t[0],t[3],t[6],0,t[1],t[4],t[7],0,t[2],t[5],t[8],0,0,0,0,1),this}extractBasis(e,t,n){return this.determinantAffine()===0?(e.set(1,0,0),t.set(0,1,0),n.set(0,0,1),this):(e.setFromMatrixColumn(this,0),t.setFromMatrixColumn(this,1),n.setFromMatrixColumn(this,2),this)}makeBasis(e,t,n){return this.set(e.x,t.x,n.x,0,e.y,t.y,n.y,0,e.z,t.z,n.z,0,0,0,0,1),this}extractRotation(e){if(e.determinantAffine()===0)return this.identity();let t=this.elements,n=e.elements,r=1/pd.setFromMatrixColumn(e,0).length(),i=1/pd.setFromMatrixColumn(e,1).length(),a=1/pd.setFromMatrixColumn(e,2).length();return t[0]=n[0]*r,t[1]=n[1]*r,t[2]=n[2]*r,t[3]=0,t[4]=n[4]*i,t[5]=n[5]*i,t[6]=n[6]*i,t[7]=0,t[8]=n[8]*a,t[9]=n[9]*a,t[10]=n[10]*a,t[11]=0,t[12]=0,t[13]=0,t[14]=0,t[15]=1,this}makeRotationFromEuler(e){let t=this.elements,n=e.x,r=e.y,i=e.z,a=Math.cos(n),o=Math.sin(n),s=Math.cos(r),c=Math.sin(r),l=Math.cos(i),u=Math.sin(i);if(e.order===`XYZ`){let e=a*l,n=a*u,r=o*l,i=o*u;t[0]=s*l,t[4]=-s*u,t[8]=c,t[1]=n+r*c,t[5]=e-i*c,t[9]=-o*s,t[2]=i-e*c,t[6]=r+n*c,t[10]=a*s}else if(e.order===`YXZ`){let e=s*l,n=s*u,r=c*l,i=c*u;t[0]=e+i*o,t[4]=r*o-n,t[8]=a*c,t[1]=a*u,t[5]=a*l,t[9]=-o,t[2]=n*o-r,t[6]=i+e*o,t[10]=a*s}else if(e.order===`ZXY`){let e=s*l,n=s*u,r=c*l,i=c*u;t[0]=e-i*o,t[4]=-a*u,t[8]=r+n*o,t[1]=n+r*o,t[5]=a*l,t[9]=i-e*o,t[2]=-a*c,t[6]=o,t[10]=a*s}else if(e.order===`ZYX`){let e=a*l,n=a*u,r=o*l,i=o*u;t[0]=s*l,t[4]=r*c-n,t[8]=e*c+i,t[1]=s*u,t[5]=i*c+e,t[9]=n*c-r,t[2]=-c,t[6]=o*s,t[10]=a*s}else if(e.order===`YZX`){let e=a*s,n=a*c,r=o*s,i=o*c;t[0]=s*l,t[4]=i-e*u,t[8]=r*u+n,t[1]=u,t[5]=a*l,t[9]=-o*l,t[2]=-c*l,t[6]=n*u+r,t[10]=e-i*u}else if(e.order===`XZY`){let e=a*s,n=a*c,r=o*s,i=o*c;t[0]=s*l,t[4]=-u,t[8]=c*l,t[1]=e*u+i,t[5]=a*l,t[9]=n*u-r,t[2]=r*u-n,t[6]=o*l,t[10]=i*u+e}return t[3]=0,t[7]=0,t[11]=0,t[12]=0,t[13]=0,t[14]=0,t[15]=1,this}makeRotationFromQuaternion(e){return this.compose(hd,e,gd)}lookAt(e,t,n){let r=this.elements;return yd.subVectors(e,t),yd.lengthSq()===0&&(yd.z=1),yd.normalize(),_d.crossVectors(n,yd),_d.lengthSq()===0&&(Math.abs(n.z)===1?yd.x+=1e-4:yd.z+=1e-4,yd.normalize(),_d.crossVectors(n,yd)),_d.normalize(),vd.crossVectors(yd,_d),r[0]=_d.x,r[4]=vd.x,r[8]=yd.x,r[1]=_d.y,r[5]=vd.y,r[9]=yd.y,r[2]=_d.z,r[6]=vd.z,r[10]=yd.z,this}multiply(e){return this.multiplyMatrices(this,e)}premultiply(e){return this.multiplyMatrices(e,this)}multiplyMatrices(e,t){let n=e.elements,r=t.elements,i=this.elements,a=n[0],o=n[4],s=n[8],c=n[12],l=n[1],u=n[5],d=n[9],f=n[13],p=n[2],m=n[6],h=n[10],g=n[14],_=n[3],v=n[7],y=n[11],b=n[15],x=r[0],S=r[4],C=r[8],w=r[12],T=r[1],E=r[5],D=r[9],O=r[13],k=r[2],A=r[6],j=r[10],ee=r[14],M=r[3],te=r[7],ne=r[11],re=r[15];return i[0]=a*x+o*T+s*k+c*M,i[4]=a*S+o*E+s*A+c*te,i[8]=a*C+o*D+s*j+c*ne,i[12]=a*w+o*O+s*ee+c*re,i[1]=l*x+u*T+d*k+f*M,i[5]=l*S+u*E+d*A+f*te,i[9]=l*C+u*D+d*j+f*ne,i[13]=l*w+u*O+d*ee+f*re,i[2]=p*x+m*T+h*k+g*M,i[6]=p*S+m*E+h*A+g*te,i[10]=p*C+m*D+h*j+g*ne,i[14]=p*w+m*O+h*ee+g*re,i[3]=_*x+v*T+y*k+b*M,i[7]=_*S+v*E+y*A+b*te,i[11]=_*C+v*D+y*j+b*ne,i[15]=_*w+v*O+y*ee+b*re,this}multiplyScalar(e){let t=this.elements;return t[0]*=e,t[4]*=e,t[8]*=e,t[12]*=e,t[1]*=e,t[5]*=e,t[9]*=e,t[13]*=e,t[2]*=e,t[6]*=e,t[10]*=e,t[14]*=e,t[3]*=e,t[7]*=e,t[11]*=e,t[15]*=e,this}determinant(){let e=this.elements,t=e[0],n=e[4],r=e[8],i=e[12],a=e[1],o=e[5],s=e[9],c=e[13],l=e[2],u=e[6],d=e[10],f=e[14],p=e[3],m=e[7],h=e[11],g=e[15],_=s*f-c*d,v=o*f-c*u,y=o*d-s*u,b=a*f-c*l,x=a*d-s*l,S=a*u-o*l;return t*(m*_-h*v+g*y)-n*(p*_-h*b+g*x)+r*(p*v-m*b+g*S)-i*(p*y-m*x+h*S)}determinantAffine(){let e=this.elements,t=e[0],n=e[4],r=e[8],i=e[1],a=e[5],o=e[9],s=e[2],c=e[6],l=e[10];return t*(a*l-o*c)-n*(i*l-o*s)+r*(i*c-a*s)}transpose(){let e=this.elements,t;return t=e[1],e[1]=e[4],e[4]=t,t=e[2],e[2]=e[8],e[8]=t,t=e[6],e[6]=e[9],e[9]=t,t=e[3],e[3]=e[12],e[12]=t,t=e[7],e[7]=e[13],e[13]=t,t=e[11],e[11]=e[14],e[14]=t,this}setPosition(e,t,n){let r=this.elements;return e.isVector3?(r[12]=e.x,r[13]=e.y,r[14]=e.z):(r[12]=e,r[13]=t,r[14]=n),this}invert(){let e=this.elements,t=e[0],n=e[1],r=e[2],i=e[3],a=e[4],o=e[5],s=e[6],c=e[7],l=e[8],u=e[9],d=e[10],f=e[11],p=e[12],m=e[13],h=e[14],g=e[15],_=t*o-n*a,v=t*s-r*a,y=t*c-i*a,b=n*s-r*o,x=n*c-i*o,S=r*c-i*s,C=l*m-u*p,w=l*h-d*p,T=l*g-f*p,E=u*h-d*m,D=u*g-f*m,O=d*g-f*h,k=_*O-v*D+y*E+b*T-x*w+S*C;if(k===0)return this.set(0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);let A=1/k;return e[0]=(o*O-s*D+c*E)*A,e[1]=(r*D-n*O-i*E)*A,e[2]=(m*S-h*x+g*b)*A,e[3]=(d*x-u*S-f*b)*A,e[4]=(s*T-a*O-c*w)*A,e[5]=(t*O-r*T+i*w)*A,e[6]=(h*y-p*S-g*v)*A,e[7]=(l*S-d*y+f*v)*A,e[8]=(a*D-o*T+c*C)*A,e[9]=(n*T-t*D-i*C)*A,e[10]=(p*x-m*y+g*_)*A,e[11]=(u*y-l*x-f*_)*A,e[12]=(o*w-a*E-s*C)*A,e[13]=(t*E-n*w+r*C)*A,e[14]=(m*v-p*b-h*_)*A,e[15]=(l*b-u*v+d*_)*A,this}scale(e){let t=this.elements,n=e.x,r=e.y,i=e.z;return t[0]*=n,t[4]*=r,t[8]*=i,t[1]*=n,t[5]*=r,t[9]*=i,t[2]*=n,t[6]*=r,t[10]*=i,t[3]*=n,t[7]*=r,t[11]*=i,this}getMaxScaleOnAxis(){let e=this.elements,t=e[0]*e[0]+e[1]*e[1]+e[2]*e[2],n=e[4]*e[4]+e[5]*e[5]+e[6]*e[6],r=e[8]*e[8]+e[9]*e[9]+e[10]*e[10];return Math.sqrt(Math.max(t,n,r))}makeTranslation(e,t,n){return e.isVector3?this.set(1,0,0,e.x,0,1,0,e.y,0,0,1,e.z,0,0,0,1):this.set(1,0,0,e,0,1,0,t,0,0,1,n,0,0,0,1),this}makeRotationX(e){let t=Math.cos(e),n=Math.sin(e);return this.set(1,0,0,0,0,t,-n,0,0,n,t,0,0,0,0,1),this}makeRotationY(e){let t=Math.cos(e),n=Math.sin(e);return this.set(t,0,n,0,0,1,0,0,-n,0,t,0,0,0,0,1),this}makeRotationZ(e){let t=Math.cos(e),n=Math.sin(e);return this.set(t,-n,0,0,n,t,0,0,0,0,1,0,0,0,0,1),this}makeRotationAxis(e,t){let n=Math.cos(t),r=Math.sin(t),i=1-n,a=e.x,o=e.y,s=e.z,c=i*a,l=i*o;return this.set(c*a+n,c*o-r*s,c*s+r*o,0,c*o+r*s,l*o+n,l*s-r*a,0,c*s-r*o,l*s+r*a,i*s*s+n,0,0,0,0,1),this}makeScale(e,t,n){return this.set(e,0,0,0,0,t,0,0,0,0,n,0,0,0,0,1),this}makeShear(e,t,n,r,i,a){return this.set(1,n,i,0,e,1,a,0,t,r,1,0,0,0,0,1),this}compose(e,t,n){let r=this.elements,i=t._x,a=t._y,o=t._z,s=t._w,c=i+i,l=a+a,u=o+o,d=i*c,f=i*l,p=i*u,m=a*l,h=a*u,g=o*u,_=s*c,v=s*l,y=s*u,b=n.x,x=n.y,S=n.z;return r[0]=(1-(m+g))*b,r[1]=(f+y)*b,r[2]=(p-v)*b,r[3]=0,r[4]=(f-y)*x,r[5]=(1-(d+g))*x,r[6]=(h+_)*x,r[7]=0,r[8]=(p+v)*S,r[9]=(h-_)*S,r[10]=(1-(d+m))*S,r[11]=0,r[12]=e.x,r[13]=e.y,r[14]=e.z,r[15]=1,this}decompose(e,t,n){let r=this.elements;e.x=r[12],e.y=r[13],e.z=r[14];let i=this.determinantAffine();if(i===0)return n.set(1,1,1),t.identity(),this;let a=pd.set(r[0],r[1],r[2]).length(),o=pd.set(r[4],r[5],r[6]).length(),s=pd.set(r[8],r[9],r[10]).length();i<0&&(a=-a),md.copy(this);let c=1/a,l=1/o,u=1/s;return md.elements[0]*=c,md.elements[1]*=c,md.elements[2]*=c,md.elements[4]*=l,md.elements[5]*=l,md.elements[6]*=l,md.elements[8]*=u,md.elements[9]*=u,md.elements[10]*=u,t.setFromRotationMatrix(md),n.x=a,n.y=o,n.z=s,this}makePerspective(e,t,n,r,i,a,o=iu,s=!1){let c=this.elements,l=2*i/(t-e),u=2*i/(n-r),d=(t+e)/(t-e),f=(n+r)/(n-r),p,m;if(s)p=i/(a-i),m=a*i/(a-i);else if(o===2e3)p=-(a+i)/(a-i),m=-2*a*i/(a-i);else if(o===2001)p=-a/(a-i),m=-a*i/(a-i);else throw Error(`THREE.Matrix4.makePerspective(): Invalid coordinate system: `+o);return c[0]=l,c[4]=0,c[8]=d,c[12]=0,c[1]=0,c[5]=u,c[9]=f,c[13]=0,c[2]=0,c[6]=0,c[10]=p,c[14]=m,c[3]=0,c[7]=0,c[11]=-1,c[15]=0,this}makeOrthographic(e,t,n,r,i,a,o=iu,s=!1){let c=this.elements,l=2/(t-e),u=2/(n-r),d=-(t+e)/(t-e),f=-(n+r)/(n-r),p,m;if(s)p=1/(a-i),m=a/(a-i);else if(o===2e3)p=-2/(a-i),m=-(a+i)/(a-i);else if(o===2001)p=-1/(a-i),m=-i/(a-i);else throw Error(`THREE.Matrix4.makeOrthographic(): Invalid coordinate system: `+o);return c[0]=l,c[4]=0,c[8]=0,c[12]=d,c[1]=0,c[5]=u,c[9]=0,c[13]=f,c[2]=0,c[6]=0,c[10]=p,c[14]=m,c[3]=0,c[7]=0,c[11]=0,c[15]=1,this}equals(e){let t=this.elements,n=e.elements;for(let e=0;e<16;e++)if(t[e]!==n[e])return!1;return!0}fromArray(e,t=0){for(let n=0;n<16;n++)this.elements[n]=e[n+t];return this}toArray(e=[],t=0){let n=this.elements;return e[t]=n[0],e[t+1]=n[1],e[t+2]=n[2],e[t+3]=n[3],e[t+4]=n[4],e[t+5]=n[5],e[t+6]=n[6],e[t+7]=n[7],e[t+8]=n[8],e[t+9]=n[9],e[t+10]=n[10],e[t+11]=n[11],e[t+12]=n[12],e[t+13]=n[13],e[t+14]=n[14],e[t+15]=n[15],e}},pd=new Y,md=new fd,hd=new Y(0,0,0),gd=new Y(1,1,1),_d=new Y,vd=new Y,yd=new Y,bd=new fd,xd=new Uu,Sd=class e{constructor(t=0,n=0,r=0,i=e.DEFAULT_ORDER){this.isEuler=!0,this._x=t,this._y=n,this._z=r,this._order=i}get x(){return this._x}set x(e){this._x=e,this._onChangeCallback()}get y(){return this._y}set y(e){this._y=e,this._onChangeCallback()}get z(){return this._z}set z(e){this._z=e,this._onChangeCallback()}get order(){return this._order}set order(e){this._order=e,this._onChangeCallback()}set(e,t,n,r=this._order){return this._x=e,this._y=t,this._z=n,this._order=r,this._onChangeCallback(),this}clone(){return new this.constructor(this._x,this._y,this._z,this._order)}copy(e){return this._x=e._x,this._y=e._y,this._z=e._z,this._order=e._order,this._onChangeCallback(),this}setFromRotationMatrix(e,t=this._order,n=!0){let r=e.elements,i=r[0],a=r[4],o=r[8],s=r[1],c=r[5],l=r[9],u=r[2],d=r[6],f=r[10];switch(t){case`XYZ`:this._y=Math.asin(q(o,-1,1)),Math.abs(o)<.9999999?(this._x=Math.atan2(-l,f),this._z=Math.atan2(-a,i)):(this._x=Math.atan2(d,c),this._z=0);break;case`YXZ`:this._x=Math.asin(-q(l,-1,1)),Math.abs(l)<.9999999?(this._y=Math.atan2(o,f),this._z=Math.atan2(s,c)):(this._y=Math.atan2(-u,i),this._z=0);break;case`ZXY`:this._x=Math.asin(q(d,-1,1)),Math.abs(d)<.9999999?(this._y=Math.atan2(-u,f),this._z=Math.atan2(-a,c)):(this._y=0,this._z=Math.atan2(s,i));break;case`ZYX`:this._y=Math.asin(-q(u,-1,1)),Math.abs(u)<.9999999?(this._x=Math.atan2(d,f),this._z=Math.atan2(s,i)):(this._x=0,this._z=Math.atan2(-a,c));break;case`YZX`:this._z=Math.asin(q(s,-1,1)),Math.abs(s)<.9999999?(this._x=Math.atan2(-l,c),this._y=Math.atan2(-u,i)):(this._x=0,this._y=Math.atan2(o,f));break;case`XZY`:this._z=Math.asin(-q(a,-1,1)),Math.abs(a)<.9999999?(this._x=Math.atan2(d,c),this._y=Math.atan2(o,i)):(this._x=Math.atan2(-l,f),this._y=0);break;default:G(`Euler: .setFromRotationMatrix() encountered an unknown order: `+t)}return this._order=t,n===!0&&this._onChangeCallback(),this}setFromQuaternion(e,t,n){return bd.makeRotationFromQuaternion(e),this.setFromRotationMatrix(bd,t,n)}setFromVector3(e,t=this._order){return this.set(e.x,e.y,e.z,t)}reorder(e){return xd.setFromEuler(this),this.setFromQuaternion(xd,e)}equals(e){return e._x===this._x&&e._y===this._y&&e._z===this._z&&e._order===this._order}fromArray(e){return this._x=e[0],this._y=e[1],this._z=e[2],e[3]!==void 0&&(this._order=e[3]),this._onChangeCallback(),this}toArray(e=[],t=0){return e[t]=this._x,e[t+1]=this._y,e[t+2]=this._z,e[t+3]=this._order,e}_onChange(e){return this._onChangeCallback=e,this}_onChangeCallback(){}*[Symbol.iterator](){yield this._x,yield this._y,yield this._z,yield this._order}};Sd.DEFAULT_ORDER=`XYZ`;var Cd=class{constructor(){this.mask=1}set(e){this.mask=1<<e>>>0}enable(e){this.mask|=1<<e}enableAll(){this.mask=-1}toggle(e){this.mask^=1<<e}disable(e){this.mask&=~(1<<e)}disableAll(){this.mask=0}test(e){return(this.mask&e.mask)!==0}isEnabled(e){return!!(this.mask&1<<e)}},wd=0,Td=new Y,Ed=new Uu,Dd=new fd,Od=new Y,kd=new Y,Ad=new Y,jd=new Uu,Md=new Y(1,0,0),Nd=new Y(0,1,0),Pd=new Y(0,0,1),Fd={type:`added`},Id={type:`removed`},Ld={type:`childadded`,child:null},Rd={type:`childremoved`,child:null},zd=class e extends hu{constructor(){super(),this.isObject3D=!0,Object.defineProperty(this,"id",{value:wd++}),this.uuid=bu(),this.name=``,this.type=`Object3D`,this.parent=null,this.children=[],this.up=e.DEFAULT_UP.clone();let t=new Y,n=new Sd,r=new Uu,i=new Y(1,1,1);function a(){r.setFromEuler(n,!1)}function o(){n.setFromQuaternion(r,void 0,!1)}n._onChange(a),r._onChange(o),Object.defineProperties(this,{position:{configurable:!0,enumerable:!0,value:t},rotation:{configurable:!0,enumerable:!0,value:n},quaternion:{configurable:!0,enumerable:!0,value:r},scale:{configurable:!0,enumerable:!0,value:i},modelViewMatrix:{value:new fd},normalMatrix:{value:new X}}),this.matrix=new fd,this.matrixWorld=new fd,this.matrixAutoUpdate=e.DEFAULT_MATRIX_AUTO_UPDATE,this.matrixWorldAutoUpdate=e.DEFAULT_MATRIX_WORLD_AUTO_UPDATE,this.matrixWorldNeedsUpdate=!1,this.layers=new Cd,this.visible=!0,this.castShadow=!1,this.receiveShadow=!1,this.frustumCulled=!0,this.renderOrder=0,this.animations=[],this.customDepthMaterial=void 0,this.customDistanceMaterial=void 0,this.static=!1,this.userData={},this.pivot=null}onBeforeShadow(){}onAfterShadow(){}onBeforeRender(){}onAfterRender(){}applyMatrix4(e){this.matrixAutoUpdate&&this.updateMatrix(),this.matrix.premultiply(e),this.matrix.decompose(this.position,this.quaternion,this.scale),this.pivot!==null&&this.position.copy(this.pivot).applyMatrix4(this.matrix).sub(this.pivot)}applyQuaternion(e){return this.quaternion.premultiply(e),this}setRotationFromAxisAngle(e,t){this.quaternion.setFromAxisAngle(e,t)}setRotationFromEuler(e){this.quaternion.setFromEuler(e,!0)}setRotationFromMatrix(e){this.quaternion.setFromRotationMatrix(e)}setRotationFromQuaternion(e){this.quaternion.copy(e)}rotateOnAxis(e,t){return Ed.setFromAxisAngle(e,t),this.quaternion.multiply(Ed),this}rotateOnWorldAxis(e,t){return Ed.setFromAxisAngle(e,t),this.quaternion.premultiply(Ed),this}rotateX(e){return this.rotateOnAxis(Md,e)}rotateY(e){return this.rotateOnAxis(Nd,e)}rotateZ(e){return this.rotateOnAxis(Pd,e)}translateOnAxis(e,t){return Td.copy(e).applyQuaternion(this.quaternion),this.position.add(Td.multiplyScalar(t)),this}translateX(e){return this.translateOnAxis(Md,e)}translateY(e){return this.translateOnAxis(Nd,e)}translateZ(e){return this.translateOnAxis(Pd,e)}localToWorld(e){return this.updateWorldMatrix(!0,!1),e.applyMatrix4(this.matrixWorld)}worldToLocal(e){return this.updateWorldMatrix(!0,!1),e.applyMatrix4(Dd.copy(this.matrixWorld).invert())}lookAt(e,t,n){e.isVector3?Od.copy(e):Od.set(e,t,n);let r=this.parent;this.updateWorldMatrix(!0,!1),kd.setFromMatrixPosition(this.matrixWorld),this.isCamera||this.isLight?Dd.lookAt(kd,Od,this.up):Dd.lookAt(Od,kd,this.up),this.quaternion.setFromRotationMatrix(Dd),r&&(Dd.extractRotation(r.matrixWorld),Ed.setFromRotationMatrix(Dd),this.quaternion.premultiply(Ed.invert()))}add(e){if(arguments.length>1){for(let e=0;e<arguments.length;e++)this.add(arguments[e]);return this}return e===this?(K(`Object3D.add: object can't be added as a child of itself.`,e),this):(e&&e.isObject3D?(e.removeFromParent(),e.parent=this,this.children.push(e),e.dispatchEvent(Fd),Ld.child=e,this.dispatchEvent(Ld),Ld.child=null):K(`Object3D.add: object not an instance of THREE.Object3D.`,e),this)}remove(e){if(arguments.length>1){for(let e=0;e<arguments.length;e++)this.remove(arguments[e]);return this}let t=this.children.indexOf(e);return t!==-1&&(e.parent=null,this.children.splice(t,1),e.dispatchEvent(Id),Rd.child=e,this.dispatchEvent(Rd),Rd.child=null),this}removeFromParent(){let e=this.parent;return e!==null&&e.remove(this),this}clear(){return this.remove(...this.children)}attach(e){return this.updateWorldMatrix(!0,!1),Dd.copy(this.matrixWorld).invert(),e.parent!==null&&(e.parent.updateWorldMatrix(!0,!1),Dd.multiply(e.parent.matrixWorld)),e.applyMatrix4(Dd),e.removeFromParent(),e.parent=this,this.children.push(e),e.updateWorldMatrix(!1,!0),e.dispatchEvent(Fd),Ld.child=e,this.dispatchEvent(Ld),Ld.child=null,this}getObjectById(e){return this.getObjectByProperty(`id`,e)}getObjectByName(e){return this.getObjectByProperty(`name`,e)}getObjectByProperty(e,t){if(this[e]===t)return this;for(let n=0,r=this.children.length;n<r;n++){let r=this.children[n].getObjectByProperty(e,t);if(r!==void 0)return r}}getObjectsByProperty(e,t,n=[]){this[e]===t&&n.push(this);let r=this.children;for(let i=0,a=r.length;i<a;i++)r[i].getObjectsByProperty(e,t,n);return n}getWorldPosition(e){return this.updateWorldMatrix(!0,!1),e.setFromMatrixPosition(this.matrixWorld)}getWorldQuaternion(e){return this.updateWorldMatrix(!0,!1),this.matrixWorld.decompose(kd,e,Ad),e}getWorldScale(e){return this.updateWorldMatrix(!0,!1),this.matrixWorld.decompose(kd,jd,e),e}getWorldDirection(e){this.updateWorldMatrix(!0,!1);let t=this.matrixWorld.elements;return e.set(t[8],t[9],t[10]).normalize()}raycast(){}intersectsFrustum(){return!0}traverse(e){e(this);let t=this.children;for(let n=0,r=t.length;n<r;n++)t[n].traverse(e)}traverseVisible(e){if(this.visible===!1)return;e(this);let t=this.children;for(let n=0,r=t.length;n<r;n++)t[n].traverseVisible(e)}traverseAncestors(e){let t=this.parent;t!==null&&(e(t),t.traverseAncestors(e))}updateMatrix(){this.matrix.compose(this.position,this.quaternion,this.scale);let e=this.pivot;if(e!==null){let t=e.x,n=e.y,r=e.z,i=this.matrix.elements;i[12]+=t-i[0]*t-i[4]*n-i[8]*r,i[13]+=n-i[1]*t-i[5]*n-i[9]*r,i[14]+=r-i[2]*t-i[6]*n-i[10]*r}this.matrixWorldNeedsUpdate=!0}updateMatrixWorld(e){this.matrixAutoUpdate&&this.updateMatrix(),(this.matrixWorldNeedsUpdate||e)&&(this.matrixWorldAutoUpdate===!0&&(this.parent===null?this.matrixWorld.copy(this.matrix):this.matrixWorld.multiplyMatrices(this.parent.matrixWorld,this.matrix)),this.matrixWorldNeedsUpdate=!1,e=!0);let t=this.children;for(let n=0,r=t.length;n<r;n++)t[n].updateMatrixWorld(e)}updateWorldMatrix(e,t,n=!1){let r=this.parent;if(e===!0&&r!==null&&r.updateWorldMatrix(!0,!1),this.matrixAutoUpdate&&this.updateMatrix(),(this.matrixWorldNeedsUpdate||n)&&(this.matrixWorldAutoUpdate===!0&&(this.parent===null?this.matrixWorld.copy(this.matrix):this.matrixWorld.multiplyMatrices(this.parent.matrixWorld,this.matrix)),this.matrixWorldNeedsUpdate=!1,n=!0),t===!0){let e=this.children;for(let t=0,r=e.length;t<r;t++)e[t].updateWorldMatrix(!1,!0,n)}}toJSON(e){let t=e===void 0||typeof e==`string`,n={};t&&(e={geometries:{},materials:{},textures:{},images:{},shapes:{},skeletons:{},animations:{},nodes:{}},n.metadata={version:4.7,type:`Object`,generator:`Object3D.toJSON`});let r={};r.uuid=this.uuid,r.type=this.type,r.name=this.name,r.castShadow=this.castShadow,r.receiveShadow=this.receiveShadow,r.visible=this.visible,r.frustumCulled=this.frustumCulled,r.renderOrder=this.renderOrder,r.static=this.static,r.matrixAutoUpdate=this.matrixAutoUpdate,Object.keys(this.userData).length>0&&(r.userData=this.userData),r.layers=this.layers.mask,r.matrix=this.matrix.toArray(),r.up=this.up.toArray(),this.pivot!==null&&(r.pivot=this.pivot.toArray()),this.morphTargetDictionary!==void 0&&(r.morphTargetDictionary=Object.assign({},this.morphTargetDictionary)),this.morphTargetInfluences!==void 0&&(r.morphTargetInfluences=this.morphTargetInfluences.slice()),this.isInstancedMesh&&(r.type=`InstancedMesh`,r.count=this.count,r.instanceMatrix=this.instanceMatrix.toJSON(),this.instanceColor!==null&&(r.instanceColor=this.instanceColor.toJSON())),this.isBatchedMesh&&(r.type=`BatchedMesh`,r.perObjectFrustumCulled=this.perObjectFrustumCulled,r.sortObjects=this.sortObjects,r.drawRanges=this._drawRanges,r.reservedRanges=this._reservedRanges,r.geometryInfo=this._geometryInfo.map(e=>({...e,boundingBox:e.boundingBox?e.boundingBox.toJSON():void 0,boundingSphere:e.boundingSphere?e.boundingSphere.toJSON():void 0})),r.instanceInfo=this._instanceInfo.map(e=>({...e})),r.availableInstanceIds=this._availableInstanceIds.slice(),r.availableGeometryIds=this._availableGeometryIds.slice(),r.nextIndexStart=this._nextIndexStart,r.nextVertexStart=this._nextVertexStart,r.geometryCount=this._geometryCount,r.maxInstanceCount=this._maxInstanceCount,r.maxVertexCount=this._maxVertexCount,r.maxIndexCount=this._maxIndexCount,r.geometryInitialized=this._geometryInitialized,r.matricesTexture=this._matricesTexture.toJSON(e),r.indirectTexture=this._indirectTexture.toJSON(e),this._colorsTexture!==null&&(r.colorsTexture=this._colorsTexture.toJSON(e)),this.boundingSphere!==null&&(r.boundingSphere=this.boundingSphere.toJSON()),this.boundingBox!==null&&(r.boundingBox=this.boundingBox.toJSON()));function i(t,n){return t[n.uuid]===void 0&&(t[n.uuid]=n.toJSON(e)),n.uuid}if(this.isScene)this.background&&(this.background.isColor?r.background=this.background.toJSON():this.background.isTexture&&(r.background=this.background.toJSON(e).uuid)),this.environment&&this.environment.isTexture&&this.environment.isRenderTargetTexture!==!0&&(r.environment=this.environment.toJSON(e).uuid);else if(this.isMesh||this.isLine||this.isPoints){r.geometry=i(e.geometries,this.geometry);let t=this.geometry.parameters;if(t!==void 0&&t.shapes!==void 0){let n=t.shapes;if(Array.isArray(n))for(let t=0,r=n.length;t<r;t++){let r=n[t];i(e.shapes,r)}else i(e.shapes,n)}}if(this.isSkinnedMesh&&(r.bindMode=this.bindMode,r.bindMatrix=this.bindMatrix.toArray(),this.skeleton!==void 0&&(i(e.skeletons,this.skeleton),r.skeleton=this.skeleton.uuid)),this.material!==void 0){if(Array.isArray(this.material)){let t=[];for(let n=0,r=this.material.length;n<r;n++)t.push(i(e.materials,this.material[n]));r.material=t}else r.material=i(e.materials,this.material)}if(this.children.length>0){r.children=[];for(let t=0;t<this.children.length;t++)r.children.push(this.children[t].toJSON(e).object)}if(this.animations.length>0){r.animations=[];for(let t=0;t<this.animations.length;t++){let n=this.animations[t];r.animations.push(i(e.animations,n))}}if(t){let t=a(e.geometries),r=a(e.materials),i=a(e.textures),o=a(e.images),s=a(e.shapes),c=a(e.skeletons),l=a(e.animations),u=a(e.nodes);t.length>0&&(n.geometries=t),r.length>0&&(n.materials=r),i.length>0&&(n.textures=i),o.length>0&&(n.images=o),s.length>0&&(n.shapes=s),c.length>0&&(n.skeletons=c),l.length>0&&(n.animations=l),u.length>0&&(n.nodes=u)}return n.object=r,n;function a(e){let t=[];for(let n in e){let r=e[n];delete r.metadata,t.push(r)}return t}}clone(e){return new this.constructor().copy(this,e)}copy(e,t=!0){if(this.name=e.name,this.up.copy(e.up),this.position.copy(e.position),this.rotation.order=e.rotation.order,this.quaternion.copy(e.quaternion),this.scale.copy(e.scale),this.pivot=e.pivot===null?null:e.pivot.clone(),this.matrix.copy(e.matrix),this.matrixWorld.copy(e.matrixWorld),this.matrixAutoUpdate=e.matrixAutoUpdate,this.matrixWorldAutoUpdate=e.matrixWorldAutoUpdate,this.matrixWorldNeedsUpdate=e.matrixWorldNeedsUpdate,this.layers.mask=e.layers.mask,this.visible=e.visible,this.castShadow=e.castShadow,this.receiveShadow=e.receiveShadow,this.frustumCulled=e.frustumCulled,this.renderOrder=e.renderOrder,this.static=e.static,this.animations=e.animations.slice(),this.userData=JSON.parse(JSON.stringify(e.userData)),t===!0)for(let t=0;t<e.children.length;t++){let n=e.children[t];this.add(n.clone())}return this}dispose(){this.dispatchEvent({type:`dispose`})}};zd.DEFAULT_UP=new Y(0,1,0),zd.DEFAULT_MATRIX_AUTO_UPDATE=!0,zd.DEFAULT_MATRIX_WORLD_AUTO_UPDATE=!0;var Bd=class extends zd{constructor(){super(),this.isGroup=!0,this.type=`Group`}},Vd={type:`move`},Hd=class{constructor(){this._targetRay=null,this._grip=null,this._hand=null}getHandSpace(){return this._hand===null&&(this._hand=new Bd,this._hand.matrixAutoUpdate=!1,this._hand.visible=!1,this._hand.joints={},this._hand.inputState={pinching:!1}),this._hand}getTargetRaySpace(){return this._targetRay===null&&(this._targetRay=new Bd,this._targetRay.matrixAutoUpdate=!1,this._targetRay.visible=!1,this._targetRay.hasLinearVelocity=!1,this._targetRay.linearVelocity=new Y,this._targetRay.hasAngularVelocity=!1,this._targetRay.angularVelocity=new Y),this._targetRay}getGripSpace(){return this._grip===null&&(this._grip=new Bd,this._grip.matrixAutoUpdate=!1,this._grip.visible=!1,this._grip.hasLinearVelocity=!1,this._grip.linearVelocity=new Y,this._grip.hasAngularVelocity=!1,this._grip.angularVelocity=new Y,this._grip.eventsEnabled=!1),this._grip}dispatchEvent(e){return this._targetRay!==null&&this._targetRay.dispatchEvent(e),this._grip!==null&&this._grip.dispatchEvent(e),this._hand!==null&&this._hand.dispatchEvent(e),this}connect(e){if(e&&e.hand){let t=this._hand;if(t)for(let n of e.hand.values())this._getHandJoint(t,n)}return this.dispatchEvent({type:`connected`,data:e}),this}disconnect(e){return this.dispatchEvent({type:`disconnected`,data:e}),this._targetRay!==null&&(this._targetRay.visible=!1),this._grip!==null&&(this._grip.visible=!1),this._hand!==null&&(this._hand.visible=!1),this}update(e,t,n){let r=null,i=null,a=null,o=this._targetRay,s=this._grip,c=this._hand;if(e&&t.session.visibilityState!==`visible-blurred`){if(c&&e.hand){a=!0;for(let r of e.hand.values()){let e=t.getJointPose(r,n),i=this._getHandJoint(c,r);e!==null&&(i.matrix.fromArray(e.transform.matrix),i.matrix.decompose(i.position,i.quaternion,i.scale),i.matrixWorldNeedsUpdate=!0,i.jointRadius=e.radius),i.visible=e!==null}let r=c.joints[`index-finger-tip`],i=c.joints[`thumb-tip`],o=r.position.distanceTo(i.position);c.inputState.pinching&&o>.025?(c.inputState.pinching=!1,this.dispatchEvent({type:`pinchend`,handedness:e.handedness,target:this})):!c.inputState.pinching&&o<=.015&&(c.inputState.pinching=!0,this.dispatchEvent({type:`pinchstart`,handedness:e.handedness,target:this}))}else s!==null&&e.gripSpace&&(i=t.getPose(e.gripSpace,n),i!==null&&(s.matrix.fromArray(i.transform.matrix),s.matrix.decompose(s.position,s.quaternion,s.scale),s.matrixWorldNeedsUpdate=!0,i.linearVelocity?(s.hasLinearVelocity=!0,s.linearVelocity.copy(i.linearVelocity)):s.hasLinearVelocity=!1,i.angularVelocity?(s.hasAngularVelocity=!0,s.angularVelocity.copy(i.angularVelocity)):s.hasAngularVelocity=!1,s.eventsEnabled&&s.dispatchEvent({type:`gripUpdated`,data:e,target:this})));o!==null&&(r=t.getPose(e.targetRaySpace,n),r===null&&i!==null&&(r=i),r!==null&&(o.matrix.fromArray(r.transform.matrix),o.matrix.decompose(o.position,o.quaternion,o.scale),o.matrixWorldNeedsUpdate=!0,r.linearVelocity?(o.hasLinearVelocity=!0,o.linearVelocity.copy(r.linearVelocity)):o.hasLinearVelocity=!1,r.angularVelocity?(o.hasAngularVelocity=!0,o.angularVelocity.copy(r.angularVelocity)):o.hasAngularVelocity=!1,this.dispatchEvent(Vd)))}return o!==null&&(o.visible=r!==null),s!==null&&(s.visible=i!==null),c!==null&&(c.visible=a!==null),this}_getHandJoint(e,t){if(e.joints[t.jointName]===void 0){let n=new Bd;n.matrixAutoUpdate=!1,n.visible=!1,e.joints[t.jointName]=n,e.add(n)}return e.joints[t.jointName]}},Ud={aliceblue:15792383,antiquewhite:16444375,aqua:65535,aquamarine:8388564,azure:15794175,beige:16119260,bisque:16770244,black:0,blanchedalmond:16772045,blue:255,blueviolet:9055202,brown:10824234,burlywood:14596231,cadetblue:6266528,chartreuse:8388352,chocolate:13789470,coral:16744272,cornflowerblue:6591981,cornsilk:16775388,crimson:14423100,cyan:65535,darkblue:139,darkcyan:35723,darkgoldenrod:12092939,darkgray:11119017,darkgreen:25600,darkgrey:11119017,darkkhaki:12433259,darkmagenta:9109643,darkolivegreen:5597999,darkorange:16747520,darkorchid:10040012,darkred:9109504,darksalmon:15308410,darkseagreen:9419919,darkslateblue:4734347,darkslategray:3100495,darkslategrey:3100495,darkturquoise:52945,darkviolet:9699539,deeppink:16716947,deepskyblue:49151,dimgray:6908265,dimgrey:6908265,dodgerblue:2003199,firebrick:11674146,floralwhite:16775920,forestgreen:2263842,fuchsia:16711935,gainsboro:14474460,ghostwhite:16316671,gold:16766720,goldenrod:14329120,gray:8421504,green:32768,greenyellow:11403055,grey:8421504,honeydew:15794160,hotpink:16738740,indianred:13458524,indigo:4915330,ivory:16777200,khaki:15787660,lavender:15132410,lavenderblush:16773365,lawngreen:8190976,lemonchiffon:16775885,lightblue:11393254,lightcoral:15761536,lightcyan:14745599,lightgoldenrodyellow:16448210,lightgray:13882323,lightgreen:9498256,lightgrey:13882323,lightpink:16758465,lightsalmon:16752762,lightseagreen:2142890,lightskyblue:8900346,lightslategray:7833753,lightslategrey:7833753,lightsteelblue:11584734,lightyellow:16777184,lime:65280,limegreen:3329330,linen:16445670,magenta:16711935,maroon:8388608,mediumaquamarine:6737322,mediumblue:205,mediumorchid:12211667,mediumpurple:9662683,mediumseagreen:3978097,mediumslateblue:8087790,mediumspringgreen:64154,mediumturquoise:4772300,mediumvioletred:13047173,midnightblue:1644912,mintcream:16121850,mistyrose:16770273,moccasin:16770229,navajowhite:16768685,navy:128,oldlace:16643558,olive:8421376,olivedrab:7048739,orange:16753920,orangered:16729344,orchid:14315734,palegoldenrod:15657130,palegreen:10025880,paleturquoise:11529966,palevioletred:14381203,papayawhip:16773077,peachpuff:16767673,peru:13468991,pink:16761035,plum:14524637,powderblue:11591910,purple:8388736,rebeccapurple:6697881,red:16711680,rosybrown:12357519,royalblue:4286945,saddlebrown:9127187,salmon:16416882,sandybrown:16032864,seagreen:3050327,seashell:16774638,sienna:10506797,silver:12632256,skyblue:8900331,slateblue:6970061,slategray:7372944,slategrey:7372944,snow:16775930,springgreen:65407,steelblue:4620980,tan:13808780,teal:32896,thistle:14204888,tomato:16737095,turquoise:4251856,violet:15631086,wheat:16113331,white:16777215,whitesmoke:16119285,yellow:16776960,yellowgreen:10145074},Wd={h:0,s:0,l:0},Gd={h:0,s:0,l:0};function Kd(e,t,n){return n<0&&(n+=1),n>1&&--n,n<1/6?e+(t-e)*6*n:n<1/2?t:n<2/3?e+(t-e)*6*(2/3-n):e}var Z=class{constructor(e,t,n){return this.isColor=!0,this.r=1,this.g=1,this.b=1,this.set(e,t,n)}set(e,t,n){if(t===void 0&&n===void 0){let t=e;t&&t.isColor?this.copy(t):typeof t==`number`?this.setHex(t):typeof t==`string`&&this.setStyle(t)}else this.setRGB(e,t,n);return this}setScalar(e){return this.r=e,this.g=e,this.b=e,this}setHex(e,t=Ql){return e=Math.floor(e),this.r=(e>>16&255)/255,this.g=(e>>8&255)/255,this.b=(e&255)/255,Xu.colorSpaceToWorking(this,t),this}setRGB(e,t,n,r=Xu.workingColorSpace){return this.r=e,this.g=t,this.b=n,Xu.colorSpaceToWorking(this,r),this}setHSL(e,t,n,r=Xu.workingColorSpace){if(e=xu(e,1),t=q(t,0,1),n=q(n,0,1),t===0)this.r=this.g=this.b=n;else{let r=n<=.5?n*(1+t):n+t-n*t,i=2*n-r;this.r=Kd(i,r,e+1/3),this.g=Kd(i,r,e),this.b=Kd(i,r,e-1/3)}return Xu.colorSpaceToWorking(this,r),this}setStyle(e,t=Ql){function n(t){t!==void 0&&parseFloat(t)<1&&G(`Color: Alpha component of `+e+` will be ignored.`)}let r;if(r=/^(\w+)\(([^\)]*)\)/.exec(e)){let i,a=r[1],o=r[2];switch(a){case`rgb`:case`rgba`:if(i=/^\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*(?:,\s*(\d+(?:\.\d+)?|\.\d+)\s*)?$/.exec(o))return n(i[4]),this.setRGB(Math.min(255,parseInt(i[1],10))/255,Math.min(255,parseInt(i[2],10))/255,Math.min(255,parseInt(i[3],10))/255,t);if(i=/^\s*(\d+(?:\.\d+)?|\.\d+)\%\s*,\s*(\d+(?:\.\d+)?|\.\d+)\%\s*,\s*(\d+(?:\.\d+)?|\.\d+)\%\s*(?:,\s*(\d+(?:\.\d+)?|\.\d+)\s*)?$/.exec(o))return n(i[4]),this.setRGB(Math.min(100,parseFloat(i[1]))/100,Math.min(100,parseFloat(i[2]))/100,Math.min(100,parseFloat(i[3]))/100,t);break;case`hsl`:case`hsla`:if(i=/^\s*([+-]?(?:\d+(?:\.\d+)?|\.\d+))\s*,\s*(\d+(?:\.\d+)?|\.\d+)\%\s*,\s*(\d+(?:\.\d+)?|\.\d+)\%\s*(?:,\s*(\d+(?:\.\d+)?|\.\d+)\s*)?$/.exec(o))return n(i[4]),this.setHSL(parseFloat(i[1])/360,parseFloat(i[2])/100,parseFloat(i[3])/100,t);break;default:G(`Color: Unknown color model `+e)}}else if(r=/^\#([A-Fa-f\d]+)$/.exec(e)){let n=r[1],i=n.length;if(i===3)return this.setRGB(parseInt(n.charAt(0),16)/15,parseInt(n.charAt(1),16)/15,parseInt(n.charAt(2),16)/15,t);if(i===6)return this.setHex(parseInt(n,16),t);G(`Color: Invalid hex color `+e)}else if(e&&e.length>0)return this.setColorName(e,t);return this}setColorName(e,t=Ql){let n=Ud[e.toLowerCase()];return n===void 0?G(`Color: Unknown color `+e):this.setHex(n,t),this}clone(){return new this.constructor(this.r,this.g,this.b)}copy(e){return this.r=e.r,this.g=e.g,this.b=e.b,this}copySRGBToLinear(e){return this.r=Zu(e.r),this.g=Zu(e.g),this.b=Zu(e.b),this}copyLinearToSRGB(e){return this.r=Qu(e.r),this.g=Qu(e.g),this.b=Qu(e.b),this}convertSRGBToLinear(){return this.copySRGBToLinear(this),this}convertLinearToSRGB(){return this.copyLinearToSRGB(this),this}getHex(e=Ql){return Xu.workingToColorSpace(qd.copy(this),e),Math.round(q(qd.r*255,0,255))*65536+Math.round(q(qd.g*255,0,255))*256+Math.round(q(qd.b*255,0,255))}getHexString(e=Ql){return(`000000`+this.getHex(e).toString(16)).slice(-6)}getHSL(e,t=Xu.workingColorSpace){Xu.workingToColorSpace(qd.copy(this),t);let n=qd.r,r=qd.g,i=qd.b,a=Math.max(n,r,i),o=Math.min(n,r,i),s,c,l=(o+a)/2;if(o===a)s=0,c=0;else{let e=a-o;switch(c=l<=.5?e/(a+o):e/(2-a-o),a){case n:s=(r-i)/e+(r<i?6:0);break;case r:s=(i-n)/e+2;break;case i:s=(n-r)/e+4}s/=6}return e.h=s,e.s=c,e.l=l,e}getRGB(e,t=Xu.workingColorSpace){return Xu.workingToColorSpace(qd.copy(this),t),e.r=qd.r,e.g=qd.g,e.b=qd.b,e}getStyle(e=Ql){Xu.workingToColorSpace(qd.copy(this),e);let t=qd.r,n=qd.g,r=qd.b;return e===`srgb`?`rgb(${Math.round(t*255)},${Math.round(n*255)},${Math.round(r*255)})`:`color(${e} ${t.toFixed(3)} ${n.toFixed(3)} ${r.toFixed(3)})`}offsetHSL(e,t,n){return this.getHSL(Wd),this.setHSL(Wd.h+e,Wd.s+t,Wd.l+n)}add(e){return this.r+=e.r,this.g+=e.g,this.b+=e.b,this}addColors(e,t){return this.r=e.r+t.r,this.g=e.g+t.g,this.b=e.b+t.b,this}addScalar(e){return this.r+=e,this.g+=e,this.b+=e,this}sub(e){return this.r=Math.max(0,this.r-e.r),this.g=Math.max(0,this.g-e.g),this.b=Math.max(0,this.b-e.b),this}multiply(e){return this.r*=e.r,this.g*=e.g,this.b*=e.b,this}multiplyScalar(e){return this.r*=e,this.g*=e,this.b*=e,this}lerp(e,t){return this.r+=(e.r-this.r)*t,this.g+=(e.g-this.g)*t,this.b+=(e.b-this.b)*t,this}lerpColors(e,t,n){return this.r=e.r+(t.r-e.r)*n,this.g=e.g+(t.g-e.g)*n,this.b=e.b+(t.b-e.b)*n,this}lerpHSL(e,t){this.getHSL(Wd),e.getHSL(Gd);let n=wu(Wd.h,Gd.h,t),r=wu(Wd.s,Gd.s,t),i=wu(Wd.l,Gd.l,t);return this.setHSL(n,r,i),this}setFromVector3(e){return this.r=e.x,this.g=e.y,this.b=e.z,this}applyMatrix3(e){let t=this.r,n=this.g,r=this.b,i=e.elements;return this.r=i[0]*t+i[3]*n+i[6]*r,this.g=i[1]*t+i[4]*n+i[7]*r,this.b=i[2]*t+i[5]*n+i[8]*r,this}equals(e){return e.r===this.r&&e.g===this.g&&e.b===this.b}fromArray(e,t=0){return this.r=e[t],this.g=e[t+1],this.b=e[t+2],this}toArray(e=[],t=0){return e[t]=this.r,e[t+1]=this.g,e[t+2]=this.b,e}fromBufferAttribute(e,t){return this.r=e.getX(t),this.g=e.getY(t),this.b=e.getZ(t),this}toJSON(){return this.getHex()}*[Symbol.iterator](){yield this.r,yield this.g,yield this.b}},qd=new Z;Z.NAMES=Ud;var Jd=class extends zd{constructor(){super(),this.isScene=!0,this.type=`Scene`,this.background=null,this.environment=null,this.fog=null,this.backgroundBlurriness=0,this.backgroundIntensity=1,this.backgroundRotation=new Sd,this.environmentIntensity=1,this.environmentRotation=new Sd,this.overrideMaterial=null,typeof __THREE_DEVTOOLS__<`u`&&__THREE_DEVTOOLS__.dispatchEvent(new CustomEvent(`observe`,{detail:this}))}copy(e,t){return super.copy(e,t),this.background=e.background===null?null:e.background.clone(),this.environment=e.environment===null?null:e.environment.clone(),this.fog=e.fog===null?null:e.fog.clone(),this.backgroundBlurriness=e.backgroundBlurriness,this.backgroundIntensity=e.backgroundIntensity,this.backgroundRotation.copy(e.backgroundRotation),this.environmentIntensity=e.environmentIntensity,this.environmentRotation.copy(e.environmentRotation),this.overrideMaterial=e.overrideMaterial===null?null:e.overrideMaterial.clone(),this.matrixAutoUpdate=e.matrixAutoUpdate,this}toJSON(e){let t=super.toJSON(e);return this.fog!==null&&(t.object.fog=this.fog.toJSON()),t.object.backgroundBlurriness=this.backgroundBlurriness,t.object.backgroundIntensity=this.backgroundIntensity,t.object.backgroundRotation=this.backgroundRotation.toArray(),t.object.environmentIntensity=this.environmentIntensity,t.object.environmentRotation=this.environmentRotation.toArray(),t}},Yd=new Y,Xd=new Y,Zd=new Y,Qd=new Y,$d=new Y,ef=new Y,tf=new Y,nf=new Y,rf=new Y,af=new Y,of=new sd,sf=new sd,cf=new sd,lf=class e{constructor(e=new Y,t=new Y,n=new Y){this.a=e,this.b=t,this.c=n}static getNormal(e,t,n,r){r.subVectors(n,t),Yd.subVectors(e,t),r.cross(Yd);let i=r.lengthSq();return i>0?r.multiplyScalar(1/Math.sqrt(i)):r.set(0,0,0)}static getBarycoord(e,t,n,r,i){Yd.subVectors(r,t),Xd.subVectors(n,t),Zd.subVectors(e,t);let a=Yd.dot(Yd),o=Yd.dot(Xd),s=Yd.dot(Zd),c=Xd.dot(Xd),l=Xd.dot(Zd),u=a*c-o*o;if(u===0)return i.set(0,0,0),null;let d=1/u,f=(c*s-o*l)*d,p=(a*l-o*s)*d;return i.set(1-f-p,p,f)}static containsPoint(e,t,n,r){return this.getBarycoord(e,t,n,r,Qd)!==null&&Qd.x>=0&&Qd.y>=0&&Qd.x+Qd.y<=1}static getInterpolation(e,t,n,r,i,a,o,s){return this.getBarycoord(e,t,n,r,Qd)===null?(s.x=0,s.y=0,`z`in s&&(s.z=0),`w`in s&&(s.w=0),null):(s.setScalar(0),s.addScaledVector(i,Qd.x),s.addScaledVector(a,Qd.y),s.addScaledVector(o,Qd.z),s)}static getInterpolatedAttribute(e,t,n,r,i,a){return of.setScalar(0),sf.setScalar(0),cf.setScalar(0),of.fromBufferAttribute(e,t),sf.fromBufferAttribute(e,n),cf.fromBufferAttribute(e,r),a.setScalar(0),a.addScaledVector(of,i.x),a.addScaledVector(sf,i.y),a.addScaledVector(cf,i.z),a}static isFrontFacing(e,t,n,r){return Yd.subVectors(n,t),Xd.subVectors(e,t),Yd.cross(Xd).dot(r)<0}set(e,t,n){return this.a.copy(e),this.b.copy(t),this.c.copy(n),this}setFromPointsAndIndices(e,t,n,r){return this.a.copy(e[t]),this.b.copy(e[n]),this.c.copy(e[r]),this}setFromAttributeAndIndices(e,t,n,r){return this.a.fromBufferAttribute(e,t),this.b.fromBufferAttribute(e,n),this.c.fromBufferAttribute(e,r),this}clone(){return new this.constructor().copy(this)}copy(e){return this.a.copy(e.a),this.b.copy(e.b),this.c.copy(e.c),this}getArea(){return Yd.subVectors(this.c,this.b),Xd.subVectors(this.a,this.b),Yd.cross(Xd).length()*.5}getMidpoint(e){return e.addVectors(this.a,this.b).add(this.c).multiplyScalar(1/3)}getNormal(t){return e.getNormal(this.a,this.b,this.c,t)}getPlane(e){return e.setFromCoplanarPoints(this.a,this.b,this.c)}getBarycoord(t,n){return e.getBarycoord(t,this.a,this.b,this.c,n)}getInterpolation(t,n,r,i,a){return e.getInterpolation(t,this.a,this.b,this.c,n,r,i,a)}containsPoint(t){return e.containsPoint(t,this.a,this.b,this.c)}isFrontFacing(t){return e.isFrontFacing(this.a,this.b,this.c,t)}intersectsBox(e){return e.intersectsTriangle(this)}closestPointToPoint(e,t){let n=this.a,r=this.b,i=this.c,a,o;$d.subVectors(r,n),ef.subVectors(i,n),nf.subVectors(e,n);let s=$d.dot(nf),c=ef.dot(nf);if(s<=0&&c<=0)return t.copy(n);rf.subVectors(e,r);let l=$d.dot(rf),u=ef.dot(rf);if(l>=0&&u<=l)return t.copy(r);let d=s*u-l*c;if(d<=0&&s>=0&&l<=0&&s-l>0)return a=s/(s-l),t.copy(n).addScaledVector($d,a);af.subVectors(e,i);let f=$d.dot(af),p=ef.dot(af);if(p>=0&&f<=p)return t.copy(i);let m=f*c-s*p;if(m<=0&&c>=0&&p<=0)return o=c/(c-p),t.copy(n).addScaledVector(ef,o);let h=l*p-f*u;if(h<=0&&u-l>=0&&f-p>=0)return tf.subVectors(i,r),o=(u-l)/(u-l+(f-p)),t.copy(r).addScaledVector(tf,o);let g=1/(h+m+d);return a=m*g,o=d*g,t.copy(n).addScaledVector($d,a).addScaledVector(ef,o)}equals(e){return e.a.equals(this.a)&&e.b.equals(this.b)&&e.c.equals(this.c)}},uf=class{constructor(e=new Y(1/0,1/0,1/0),t=new Y(-1/0,-1/0,-1/0)){this.isBox3=!0,this.min=e,this.max=t}set(e,t){return this.min.copy(e),this.max.copy(t),this}setFromArray(e){this.makeEmpty();for(let t=0,n=e.length;t<n;t+=3)this.expandByPoint(ff.fromArray(e,t));return this}setFromBufferAttribute(e){this.makeEmpty();for(let t=0,n=e.count;t<n;t++)this.expandByPoint(ff.fromBufferAttribute(e,t));return this}setFromPoints(e){this.makeEmpty();for(let t=0,n=e.length;t<n;t++)this.expandByPoint(e[t]);return this}setFromCenterAndSize(e,t){let n=ff.copy(t).multiplyScalar(.5);return this.min.copy(e).sub(n),this.max.copy(e).add(n),this}setFromObject(e,t=!1){return this.makeEmpty(),this.expandByObject(e,t)}clone(){return new this.constructor().copy(this)}copy(e){return this.min.copy(e.min),this.max.copy(e.max),this}makeEmpty(){return this.min.x=this.min.y=this.min.z=1/0,this.max.x=this.max.y=this.max.z=-1/0,this}isEmpty(){return this.max.x<this.min.x||this.max.y<this.min.y||this.max.z<this.min.z}getCenter(e){return this.isEmpty()?e.set(0,0,0):e.addVectors(this.min,this.max).multiplyScalar(.5)}getSize(e){return this.isEmpty()?e.set(0,0,0):e.subVectors(this.max,this.min)}expandByPoint(e){return this.min.min(e),this.max.max(e),this}expandByVector(e){return this.min.sub(e),this.max.add(e),this}expandByScalar(e){return this.min.addScalar(-e),this.max.addScalar(e),this}expandByObject(e,t=!1){e.updateWorldMatrix(!1,!1);let n=e.geometry;if(n!==void 0){let r=n.getAttribute(`position`);if(t===!0&&r!==void 0&&e.isInstancedMesh!==!0&&e.isBatchedMesh!==!0)for(let t=0,n=r.count;t<n;t++)e.isMesh===!0?e.getVertexPosition(t,ff):ff.fromBufferAttribute(r,t),ff.applyMatrix4(e.matrixWorld),this.expandByPoint(ff);else e.boundingBox===void 0?(n.boundingBox===null&&n.computeBoundingBox(),pf.copy(n.boundingBox)):(e.boundingBox===null&&e.computeBoundingBox(),pf.copy(e.boundingBox)),pf.applyMatrix4(e.matrixWorld),this.union(pf)}let r=e.children;for(let e=0,n=r.length;e<n;e++)this.expandByObject(r[e],t);return this}containsPoint(e){return e.x>=this.min.x&&e.x<=this.max.x&&e.y>=this.min.y&&e.y<=this.max.y&&e.z>=this.min.z&&e.z<=this.max.z}containsBox(e){return this.min.x<=e.min.x&&e.max.x<=this.max.x&&this.min.y<=e.min.y&&e.max.y<=this.max.y&&this.min.z<=e.min.z&&e.max.z<=this.max.z}getParameter(e,t){return t.set((e.x-this.min.x)/(this.max.x-this.min.x),(e.y-this.min.y)/(this.max.y-this.min.y),(e.z-this.min.z)/(this.max.z-this.min.z))}intersectsBox(e){return e.max.x>=this.min.x&&e.min.x<=this.max.x&&e.max.y>=this.min.y&&e.min.y<=this.max.y&&e.max.z>=this.min.z&&e.min.z<=this.max.z}intersectsSphere(e){return this.clampPoint(e.center,ff),ff.distanceToSquared(e.center)<=e.radius*e.radius}intersectsPlane(e){let t,n;return e.normal.x>0?(t=e.normal.x*this.min.x,n=e.normal.x*this.max.x):(t=e.normal.x*this.max.x,n=e.normal.x*this.min.x),e.normal.y>0?(t+=e.normal.y*this.min.y,n+=e.normal.y*this.max.y):(t+=e.normal.y*this.max.y,n+=e.normal.y*this.min.y),e.normal.z>0?(t+=e.normal.z*this.min.z,n+=e.normal.z*this.max.z):(t+=e.normal.z*this.max.z,n+=e.normal.z*this.min.z),t<=-e.constant&&n>=-e.constant}intersectsTriangle(e){if(this.isEmpty())return!1;this.getCenter(bf),xf.subVectors(this.max,bf),mf.subVectors(e.a,bf),hf.subVectors(e.b,bf),gf.subVectors(e.c,bf),_f.subVectors(hf,mf),vf.subVectors(gf,hf),yf.subVectors(mf,gf);let t=[0,-_f.z,_f.y,0,-vf.z,vf.y,0,-yf.z,yf.y,_f.z,0,-_f.x,vf.z,0,-vf.x,yf.z,0,-yf.x,-_f.y,_f.x,0,-vf.y,vf.x,0,-yf.y,yf.x,0];return!wf(t,mf,hf,gf,xf)||(t=[1,0,0,0,1,0,0,0,1],!wf(t,mf,hf,gf,xf))?!1:(Sf.crossVectors(_f,vf),t=[Sf.x,Sf.y,Sf.z],wf(t,mf,hf,gf,xf))}clampPoint(e,t){return t.copy(e).clamp(this.min,this.max)}distanceToPoint(e){return this.clampPoint(e,ff).distanceTo(e)}getBoundingSphere(e){return this.isEmpty()?e.makeEmpty():(this.getCenter(e.center),e.radius=this.getSize(ff).length()*.5),e}intersect(e){return this.min.max(e.min),this.max.min(e.max),this.isEmpty()&&this.makeEmpty(),this}union(e){return this.min.min(e.min),this.max.max(e.max),this}applyMatrix4(e){return this.isEmpty()||(df[0].set(this.min.x,this.min.y,this.min.z).applyMatrix4(e),df[1].set(this.min.x,this.min.y,this.max.z).applyMatrix4(e),df[2].set(this.min.x,this.max.y,this.min.z).applyMatrix4(e),df[3].set(this.min.x,this.max.y,this.max.z).applyMatrix4(e),df[4].set(this.max.x,this.min.y,this.min.z).applyMatrix4(e),df[5].set(this.max.x,this.min.y,this.max.z).applyMatrix4(e),df[6].set(this.max.x,this.max.y,this.min.z).applyMatrix4(e),df[7].set(this.max.x,this.max.y,this.max.z).applyMatrix4(e),this.setFromPoints(df)),this}translate(e){return this.min.add(e),this.max.add(e),this}equals(e){return e.min.equals(this.min)&&e.max.equals(this.max)}toJSON(){return{min:this.min.toArray(),max:this.max.toArray()}}fromJSON(e){return this.min.fromArray(e.min),this.max.fromArray(e.max),this}},df=[new Y,new Y,new Y,new Y,new Y,new Y,new Y,new Y],ff=new Y,pf=new uf,mf=new Y,hf=new Y,gf=new Y,_f=new Y,vf=new Y,yf=new Y,bf=new Y,xf=new Y,Sf=new Y,Cf=new Y;function wf(e,t,n,r,i){for(let a=0,o=e.length-3;a<=o;a+=3){Cf.fromArray(e,a);let o=i.x*Math.abs(Cf.x)+i.y*Math.abs(Cf.y)+i.z*Math.abs(Cf.z),s=t.dot(Cf),c=n.dot(Cf),l=r.dot(Cf);if(Math.max(-Math.max(s,c,l),Math.min(s,c,l))>o)return!1}return!0}var Tf=new Y,Ef=new J,Df=0,Of=class extends hu{constructor(e,t,n=!1){if(super(),Array.isArray(e))throw TypeError(`THREE.BufferAttribute: array should be a Typed Array.`);this.isBufferAttribute=!0,Object.defineProperty(this,"id",{value:Df++}),this.name=``,this.array=e,this.itemSize=t,this.count=e===void 0?0:e.length/t,this.normalized=n,this.usage=ru,this.updateRanges=[],this.gpuType=Gc,this.version=0,this._normalizationScale=e===void 0?void 0:zu(e)}onUploadCallback(){}set needsUpdate(e){e===!0&&this.version++}setUsage(e){return this.usage=e,this}addUpdateRange(e,t){this.updateRanges.push({start:e,count:t})}clearUpdateRanges(){this.updateRanges.length=0}copy(e){return this.name=e.name,this.array=new e.array.constructor(e.array),this.itemSize=e.itemSize,this.count=e.count,this.normalized=e.normalized,this.usage=e.usage,this.gpuType=e.gpuType,this._normalizationScale=e._normalizationScale,this}copyAt(e,t,n){e*=this.itemSize,n*=t.itemSize;for(let r=0,i=this.itemSize;r<i;r++)this.array[e+r]=t.array[n+r];return this}copyArray(e){return this.array.set(e),this}applyMatrix3(e){if(this.itemSize===2)for(let t=0,n=this.count;t<n;t++)Ef.fromBufferAttribute(this,t),Ef.applyMatrix3(e),this.setXY(t,Ef.x,Ef.y);else if(this.itemSize===3)for(let t=0,n=this.count;t<n;t++)Tf.fromBufferAttribute(this,t),Tf.applyMatrix3(e),this.setXYZ(t,Tf.x,Tf.y,Tf.z);return this}applyMatrix4(e){for(let t=0,n=this.count;t<n;t++)Tf.fromBufferAttribute(this,t),Tf.applyMatrix4(e),this.setXYZ(t,Tf.x,Tf.y,Tf.z);return this}applyNormalMatrix(e){for(let t=0,n=this.count;t<n;t++)Tf.fromBufferAttribute(this,t),Tf.applyNormalMatrix(e),this.setXYZ(t,Tf.x,Tf.y,Tf.z);return this}transformDirection(e){for(let t=0,n=this.count;t<n;t++)Tf.fromBufferAttribute(this,t),Tf.transformDirection(e),this.setXYZ(t,Tf.x,Tf.y,Tf.z);return this}set(e,t=0){return this.array.set(e,t),this}getComponent(e,t){let n=this.array[e*this.itemSize+t];return this.normalized&&(n=this._denormalize(n)),n}setComponent(e,t,n){return this.normalized&&(n=this._normalize(n)),this.array[e*this.itemSize+t]=n,this}getX(e){let t=this.array[e*this.itemSize];return this.normalized&&(t=this._denormalize(t)),t}setX(e,t){return this.normalized&&(t=this._normalize(t)),this.array[e*this.itemSize]=t,this}getY(e){let t=this.array[e*this.itemSize+1];return this.normalized&&(t=this._denormalize(t)),t}setY(e,t){return this.normalized&&(t=this._normalize(t)),this.array[e*this.itemSize+1]=t,this}getZ(e){let t=this.array[e*this.itemSize+2];return this.normalized&&(t=this._denormalize(t)),t}setZ(e,t){return this.normalized&&(t=this._normalize(t)),this.array[e*this.itemSize+2]=t,this}getW(e){let t=this.array[e*this.itemSize+3];return this.normalized&&(t=this._denormalize(t)),t}setW(e,t){return this.normalized&&(t=this._normalize(t)),this.array[e*this.itemSize+3]=t,this}setXY(e,t,n){return e*=this.itemSize,this.normalized&&(t=this._normalize(t),n=this._normalize(n)),this.array[e+0]=t,this.array[e+1]=n,this}setXYZ(e,t,n,r){return e*=this.itemSize,this.normalized&&(t=this._normalize(t),n=this._normalize(n),r=this._normalize(r)),this.array[e+0]=t,this.array[e+1]=n,this.array[e+2]=r,this}setXYZW(e,t,n,r,i){return e*=this.itemSize,this.normalized&&(t=this._normalize(t),n=this._normalize(n),r=this._normalize(r),i=this._normalize(i)),this.array[e+0]=t,this.array[e+1]=n,this.array[e+2]=r,this.array[e+3]=i,this}onUpload(e){return this.onUploadCallback=e,this}clone(){return new this.constructor(this.array,this.itemSize).copy(this)}toJSON(){let e={itemSize:this.itemSize,type:this.array.constructor.name,array:Array.from(this.array),normalized:this.normalized};return e.name=this.name,e.usage=this.usage,e.gpuType=this.gpuType,e}dispose(){this.dispatchEvent({type:`dispose`})}_denormalize(e){let t=this._normalizationScale;return t===void 0?Bu(e,this.array):Math.max(e/t,-1)}_normalize(e){let t=this._normalizationScale;return t===void 0?Vu(e,this.array):Math.round(e*t)}},kf=class extends Of{constructor(e,t,n){super(new Uint16Array(e),t,n)}},Af=class extends Of{constructor(e,t,n){super(new Uint32Array(e),t,n)}},jf=class extends Of{constructor(e,t,n){super(new Float32Array(e),t,n)}},Mf=new uf,Nf=new Y,Pf=new Y,Ff=class{constructor(e=new Y,t=-1){this.isSphere=!0,this.center=e,this.radius=t}set(e,t){return this.center.copy(e),this.radius=t,this}setFromPoints(e,t){let n=this.center;t===void 0?Mf.setFromPoints(e).getCenter(n):n.copy(t);let r=0;for(let t=0,i=e.length;t<i;t++)r=Math.max(r,n.distanceToSquared(e[t]));return this.radius=Math.sqrt(r),this}copy(e){return this.center.copy(e.center),this.radius=e.radius,this}isEmpty(){return this.radius<0}makeEmpty(){return this.center.set(0,0,0),this.radius=-1,this}containsPoint(e){return e.distanceToSquared(this.center)<=this.radius*this.radius}distanceToPoint(e){return e.distanceTo(this.center)-this.radius}intersectsSphere(e){let t=this.radius+e.radius;return e.center.distanceToSquared(this.center)<=t*t}intersectsBox(e){return e.intersectsSphere(this)}intersectsPlane(e){return Math.abs(e.distanceToPoint(this.center))<=this.radius}clampPoint(e,t){let n=this.center.distanceToSquared(e);return t.copy(e),n>this.radius*this.radius&&(t.sub(this.center).normalize(),t.multiplyScalar(this.radius).add(this.center)),t}getBoundingBox(e){return this.isEmpty()?(e.makeEmpty(),e):(e.set(this.center,this.center),e.expandByScalar(this.radius),e)}applyMatrix4(e){return this.center.applyMatrix4(e),this.radius*=e.getMaxScaleOnAxis(),this}translate(e){return this.center.add(e),this}expandByPoint(e){if(this.isEmpty())return this.center.copy(e),this.radius=0,this;Nf.subVectors(e,this.center);let t=Nf.lengthSq();if(t>this.radius*this.radius){let e=Math.sqrt(t),n=(e-this.radius)*.5;this.center.addScaledVector(Nf,n/e),this.radius+=n}return this}union(e){return e.isEmpty()?this:this.isEmpty()?(this.copy(e),this):(this.center.equals(e.center)===!0?this.radius=Math.max(this.radius,e.radius):(Pf.subVectors(e.center,this.center).setLength(e.radius),this.expandByPoint(Nf.copy(e.center).add(Pf)),this.expandByPoint(Nf.copy(e.center).sub(Pf))),this)}equals(e){return e.center.equals(this.center)&&e.radius===this.radius}clone(){return new this.constructor().copy(this)}toJSON(){return{radius:this.radius,center:this.center.toArray()}}fromJSON(e){return this.radius=e.radius,this.center.fromArray(e.center),this}},If=0,Lf=new fd,Rf=new zd,zf=new Y,Bf=new uf,Vf=new uf,Hf=new Y,Uf=class e extends hu{constructor(){super(),this.isBufferGeometry=!0,Object.defineProperty(this,"id",{value:If++}),this.uuid=bu(),this.name=``,this.type=`BufferGeometry`,this.index=null,this.indirect=null,this.indirectOffset=0,this.attributes={},this.morphAttributes={},this.morphTargetsRelative=!1,this.groups=[],this.boundingBox=null,this.boundingSphere=null,this.drawRange={start:0,count:1/0},this.userData={},this._transformed=!1}getIndex(){return this.index}setIndex(e){return this.index=Array.isArray(e)?new(au(e)?Af:kf)(e,1):e,this}setIndirect(e,t=0){return this.indirect=e,this.indirectOffset=t,this}getIndirect(){return this.indirect}getAttribute(e){return this.attributes[e]}setAttribute(e,t){return this.attributes[e]=t,this}deleteAttribute(e){return delete this.attributes[e],this}hasAttribute(e){return this.attributes[e]!==void 0}addGroup(e,t,n=0){this.groups.push({start:e,count:t,materialIndex:n})}clearGroups(){this.groups=[]}setDrawRange(e,t){this.drawRange.start=e,this.drawRange.count=t}applyMatrix4(e){let t=this.attributes.position;t!==void 0&&(t.applyMatrix4(e),t.needsUpdate=!0);let n=this.attributes.normal;if(n!==void 0){let t=new X().getNormalMatrix(e);n.applyNormalMatrix(t),n.needsUpdate=!0}let r=this.attributes.tangent;return r!==void 0&&(r.transformDirection(e),r.needsUpdate=!0),this.boundingBox!==null&&this.computeBoundingBox(),this.boundingSphere!==null&&this.computeBoundingSphere(),this._transformed=!0,this}applyQuaternion(e){return Lf.makeRotationFromQuaternion(e),this.applyMatrix4(Lf),this}rotateX(e){return Lf.makeRotationX(e),this.applyMatrix4(Lf),this}rotateY(e){return Lf.makeRotationY(e),this.applyMatrix4(Lf),this}rotateZ(e){return Lf.makeRotationZ(e),this.applyMatrix4(Lf),this}translate(e,t,n){return Lf.makeTranslation(e,t,n),this.applyMatrix4(Lf),this}scale(e,t,n){return Lf.makeScale(e,t,n),this.applyMatrix4(Lf),this}lookAt(e){return Rf.lookAt(e),Rf.updateMatrix(),this.applyMatrix4(Rf.matrix),this}center(){return this.computeBoundingBox(),this.boundingBox.getCenter(zf).negate(),this.translate(zf.x,zf.y,zf.z),this}setFromPoints(e){let t=this.getAttribute(`position`);if(t===void 0){let t=[];for(let n=0,r=e.length;n<r;n++){let r=e[n];t.push(r.x,r.y,r.z||0)}this.setAttribute(`position`,new jf(t,3))}else{let n=Math.min(e.length,t.count);for(let r=0;r<n;r++){let n=e[r];t.setXYZ(r,n.x,n.y,n.z||0)}e.length>t.count&&G(`BufferGeometry: Buffer size too small for points data. Use .dispose() and create a new geometry.`),t.needsUpdate=!0}return this}computeBoundingBox(){this.boundingBox===null&&(this.boundingBox=new uf);let e=this.attributes.position,t=this.morphAttributes.position;if(e&&e.isGLBufferAttribute)K(`BufferGeometry.computeBoundingBox(): GLBufferAttribute requires a manual bounding box.`,this),this.boundingBox.set(new Y(-1/0,-1/0,-1/0),new Y(1/0,1/0,1/0));else{if(e!==void 0){if(this.boundingBox.setFromBufferAttribute(e),t)for(let e=0,n=t.length;e<n;e++){let n=t[e];Bf.setFromBufferAttribute(n),this.morphTargetsRelative?(Hf.addVectors(this.boundingBox.min,Bf.min),this.boundingBox.expandByPoint(Hf),Hf.addVectors(this.boundingBox.max,Bf.max),this.boundingBox.expandByPoint(Hf)):(this.boundingBox.expandByPoint(Bf.min),this.boundingBox.expandByPoint(Bf.max))}}else this.boundingBox.makeEmpty();(isNaN(this.boundingBox.min.x)||isNaN(this.boundingBox.min.y)||isNaN(this.boundingBox.min.z))&&K(`BufferGeometry.computeBoundingBox(): Computed min/max have NaN values. The "position" attribute is likely to have NaN values.`,this)}}computeBoundingSphere(){this.boundingSphere===null&&(this.boundingSphere=new Ff);let e=this.attributes.position,t=this.morphAttributes.position;if(e&&e.isGLBufferAttribute)K(`BufferGeometry.computeBoundingSphere(): GLBufferAttribute requires a manual bounding sphere.`,this),this.boundingSphere.set(new Y,1/0);else if(e){let n=this.boundingSphere.center;if(Bf.setFromBufferAttribute(e),t)for(let e=0,n=t.length;e<n;e++){let n=t[e];Vf.setFromBufferAttribute(n),this.morphTargetsRelative?(Hf.addVectors(Bf.min,Vf.min),Bf.expandByPoint(Hf),Hf.addVectors(Bf.max,Vf.max),Bf.expandByPoint(Hf)):(Bf.expandByPoint(Vf.min),Bf.expandByPoint(Vf.max))}Bf.getCenter(n);let r=0;for(let t=0,i=e.count;t<i;t++)Hf.fromBufferAttribute(e,t),r=Math.max(r,n.distanceToSquared(Hf));if(t)for(let i=0,a=t.length;i<a;i++){let a=t[i],o=this.morphTargetsRelative;for(let t=0,i=a.count;t<i;t++)Hf.fromBufferAttribute(a,t),o&&(zf.fromBufferAttribute(e,t),Hf.add(zf)),r=Math.max(r,n.distanceToSquared(Hf))}this.boundingSphere.radius=Math.sqrt(r),isNaN(this.boundingSphere.radius)&&K(`BufferGeometry.computeBoundingSphere(): Computed radius is NaN. The "position" attribute is likely to have NaN values.`,this)}}computeTangents(){let e=this.index,t=this.attributes;if(e===null||t.position===void 0||t.normal===void 0||t.uv===void 0){K(`BufferGeometry: .computeTangents() failed. Missing required attributes (index, position, normal or uv)`);return}let n=t.position,r=t.normal,i=t.uv,a=this.getAttribute(`tangent`);(a===void 0||a.count!==n.count)&&(a=new Of(new Float32Array(4*n.count),4),this.setAttribute(`tangent`,a));let o=[],s=[],c=new Uint8Array(n.count);for(let e=0;e<n.count;e++)o[e]=new Y,s[e]=new Y;let l=new Y,u=new Y,d=new Y,f=new J,p=new J,m=new J,h=new Y,g=new Y;function _(e,t,r){c[e]=c[t]=c[r]=1,l.fromBufferAttribute(n,e),u.fromBufferAttribute(n,t),d.fromBufferAttribute(n,r),f.fromBufferAttribute(i,e),p.fromBufferAttribute(i,t),m.fromBufferAttribute(i,r),u.sub(l),d.sub(l),p.sub(f),m.sub(f);let a=1/(p.x*m.y-m.x*p.y);isFinite(a)&&(h.copy(u).multiplyScalar(m.y).addScaledVector(d,-p.y).multiplyScalar(a),g.copy(d).multiplyScalar(p.x).addScaledVector(u,-m.x).multiplyScalar(a),o[e].add(h),o[t].add(h),o[r].add(h),s[e].add(g),s[t].add(g),s[r].add(g))}let v=this.groups;v.length===0&&(v=[{start:0,count:e.count}]);for(let t=0,n=v.length;t<n;++t){let n=v[t],r=n.start,i=n.count;for(let t=r,n=r+i;t<n;t+=3)_(e.getX(t+0),e.getX(t+1),e.getX(t+2))}let y=new Y,b=new Y,x=new Y,S=new Y;function C(e){x.fromBufferAttribute(r,e),S.copy(x);let t=o[e];y.copy(t),y.sub(x.multiplyScalar(x.dot(t))).normalize(),b.crossVectors(S,t);let n=b.dot(s[e])<0?-1:1;a.setXYZW(e,y.x,y.y,y.z,n)}for(let e=0,t=n.count;e<t;++e)c[e]&&C(e);this._transformed=!0}computeVertexNormals(){let e=this.index,t=this.getAttribute(`position`);if(t!==void 0){let n=this.getAttribute(`normal`);if(n===void 0||n.count!==t.count)n=new Of(new Float32Array(t.count*3),3),this.setAttribute(`normal`,n);else for(let e=0,t=n.count;e<t;e++)n.setXYZ(e,0,0,0);let r=new Y,i=new Y,a=new Y,o=new Y,s=new Y,c=new Y,l=new Y,u=new Y;if(e)for(let d=0,f=e.count;d<f;d+=3){let f=e.getX(d+0),p=e.getX(d+1),m=e.getX(d+2);r.fromBufferAttribute(t,f),i.fromBufferAttribute(t,p),a.fromBufferAttribute(t,m),l.subVectors(a,i),u.subVectors(r,i),l.cross(u),o.fromBufferAttribute(n,f),s.fromBufferAttribute(n,p),c.fromBufferAttribute(n,m),o.add(l),s.add(l),c.add(l),n.setXYZ(f,o.x,o.y,o.z),n.setXYZ(p,s.x,s.y,s.z),n.setXYZ(m,c.x,c.y,c.z)}else for(let e=0,o=t.count;e<o;e+=3)r.fromBufferAttribute(t,e+0),i.fromBufferAttribute(t,e+1),a.fromBufferAttribute(t,e+2),l.subVectors(a,i),u.subVectors(r,i),l.cross(u),n.setXYZ(e+0,l.x,l.y,l.z),n.setXYZ(e+1,l.x,l.y,l.z),n.setXYZ(e+2,l.x,l.y,l.z);this.normalizeNormals(),n.needsUpdate=!0}}normalizeNormals(){let e=this.attributes.normal;for(let t=0,n=e.count;t<n;t++)Hf.fromBufferAttribute(e,t),Hf.normalize(),e.setXYZ(t,Hf.x,Hf.y,Hf.z)}toNonIndexed(){function t(e,t){let n=e.array,r=e.itemSize,i=e.normalized,a=new n.constructor(t.length*r),o=0,s=0;for(let i=0,c=t.length;i<c;i++){o=e.isInterleavedBufferAttribute?t[i]*e.data.stride+e.offset:t[i]*r;for(let e=0;e<r;e++)a[s++]=n[o++]}return new Of(a,r,i)}if(this.index===null)return G(`BufferGeometry.toNonIndexed(): BufferGeometry is already non-indexed.`),this;let n=new e,r=this.index.array,i=this.attributes;for(let e in i){let a=i[e],o=t(a,r);n.setAttribute(e,o)}let a=this.morphAttributes;for(let e in a){let i=[],o=a[e];for(let e=0,n=o.length;e<n;e++){let n=o[e],a=t(n,r);i.push(a)}n.morphAttributes[e]=i}n.morphTargetsRelative=this.morphTargetsRelative;let o=this.groups;for(let e=0,t=o.length;e<t;e++){let t=o[e];n.addGroup(t.start,t.count,t.materialIndex)}return n}toJSON(){let e={metadata:{version:4.7,type:`BufferGeometry`,generator:`BufferGeometry.toJSON`}};if(e.uuid=this.uuid,e.type=this.parameters!==void 0&&this._transformed===!0?`BufferGeometry`:this.type,e.name=this.name,Object.keys(this.userData).length>0&&(e.userData=this.userData),this.parameters!==void 0&&this._transformed!==!0){let t=this.parameters;for(let n in t)t[n]!==void 0&&(e[n]=t[n]);return e}e.data={attributes:{}};let t=this.index;t!==null&&(e.data.index={type:t.array.constructor.name,array:Array.prototype.slice.call(t.array)});let n=this.attributes;for(let t in n){let r=n[t];e.data.attributes[t]=r.toJSON(e.data)}let r={},i=!1;for(let t in this.morphAttributes){let n=this.morphAttributes[t],a=[];for(let t=0,r=n.length;t<r;t++){let r=n[t];a.push(r.toJSON(e.data))}a.length>0&&(r[t]=a,i=!0)}i&&(e.data.morphAttributes=r,e.data.morphTargetsRelative=this.morphTargetsRelative);let a=this.groups;a.length>0&&(e.data.groups=JSON.parse(JSON.stringify(a)));let o=this.boundingSphere;return o!==null&&(e.data.boundingSphere=o.toJSON()),e}clone(){return new this.constructor().copy(this)}copy(e){this.index=null,this.attributes={},this.morphAttributes={},this.groups=[],this.boundingBox=null,this.boundingSphere=null;let t={};this.name=e.name;let n=e.index;n!==null&&this.setIndex(n.clone());let r=e.attributes;for(let e in r){let n=r[e];this.setAttribute(e,n.clone(t))}let i=e.morphAttributes;for(let e in i){let n=[],r=i[e];for(let e=0,i=r.length;e<i;e++)n.push(r[e].clone(t));this.morphAttributes[e]=n}this.morphTargetsRelative=e.morphTargetsRelative;let a=e.groups;for(let e=0,t=a.length;e<t;e++){let t=a[e];this.addGroup(t.start,t.count,t.materialIndex)}let o=e.boundingBox;o!==null&&(this.boundingBox=o.clone());let s=e.boundingSphere;return s!==null&&(this.boundingSphere=s.clone()),this.drawRange.start=e.drawRange.start,this.drawRange.count=e.drawRange.count,this.userData=e.userData,this._transformed=e._transformed,this}dispose(){this.dispatchEvent({type:`dispose`})}},Wf=class{constructor(e,t){this.isInterleavedBuffer=!0,this.array=e,this.stride=t,this.count=e===void 0?0:e.length/t,this.usage=ru,this.updateRanges=[],this.version=0,this.uuid=bu()}onUploadCallback(){}set needsUpdate(e){e===!0&&this.version++}setUsage(e){return this.usage=e,this}addUpdateRange(e,t){this.updateRanges.push({start:e,count:t})}clearUpdateRanges(){this.updateRanges.length=0}copy(e){return this.array=new e.array.constructor(e.array),this.count=e.count,this.stride=e.stride,this.usage=e.usage,this}copyAt(e,t,n){e*=this.stride,n*=t.stride;for(let r=0,i=this.stride;r<i;r++)this.array[e+r]=t.array[n+r];return this}set(e,t=0){return this.array.set(e,t),this}clone(e){e.arrayBuffers===void 0&&(e.arrayBuffers={});let t=Gf(this.array);e.arrayBuffers[t]===void 0&&(e.arrayBuffers[t]=this.array.slice(0).buffer);let n=new this.array.constructor(e.arrayBuffers[t]),r=new this.constructor(n,this.stride);return r.setUsage(this.usage),r}onUpload(e){return this.onUploadCallback=e,this}toJSON(e){e.arrayBuffers===void 0&&(e.arrayBuffers={});let t=Gf(this.array);e.arrayBuffers[t]===void 0&&(e.arrayBuffers[t]=Array.from(new Uint32Array(this.array.slice(0).buffer)));let n={uuid:this.uuid,buffer:t,type:this.array.constructor.name,stride:this.stride};return n.usage=this.usage,n}};function Gf(e){return e.buffer._uuid===void 0&&(e.buffer._uuid=bu()),e.byteOffset===0&&e.byteLength===e.buffer.byteLength?e.buffer._uuid:e.buffer._uuid+`:`+e.byteOffset+`:`+e.byteLength}var Kf=new Y,qf=class e{constructor(e,t,n,r=!1){this.isInterleavedBufferAttribute=!0,this.name=``,this.data=e,this.itemSize=t,this.offset=n,this.normalized=r,this._normalizationScale=e===void 0?void 0:zu(e.array)}get count(){return this.data.count}get array(){return this.data.array}set needsUpdate(e){this.data.needsUpdate=e}applyMatrix4(e){for(let t=0,n=this.data.count;t<n;t++)Kf.fromBufferAttribute(this,t),Kf.applyMatrix4(e),this.setXYZ(t,Kf.x,Kf.y,Kf.z);return this}applyNormalMatrix(e){for(let t=0,n=this.count;t<n;t++)Kf.fromBufferAttribute(this,t),Kf.applyNormalMatrix(e),this.setXYZ(t,Kf.x,Kf.y,Kf.z);return this}transformDirection(e){for(let t=0,n=this.count;t<n;t++)Kf.fromBufferAttribute(this,t),Kf.transformDirection(e),this.setXYZ(t,Kf.x,Kf.y,Kf.z);return this}getComponent(e,t){let n=this.array[e*this.data.stride+this.offset+t];return this.normalized&&(n=this._denormalize(n)),n}setComponent(e,t,n){return this.normalized&&(n=this._normalize(n)),this.data.array[e*this.data.stride+this.offset+t]=n,this}setX(e,t){return this.normalized&&(t=this._normalize(t)),this.data.array[e*this.data.stride+this.offset]=t,this}setY(e,t){return this.normalized&&(t=this._normalize(t)),this.data.array[e*this.data.stride+this.offset+1]=t,this}setZ(e,t){return this.normalized&&(t=this._normalize(t)),this.data.array[e*this.data.stride+this.offset+2]=t,this}setW(e,t){return this.normalized&&(t=this._normalize(t)),this.data.array[e*this.data.stride+this.offset+3]=t,this}getX(e){let t=this.data.array[e*this.data.stride+this.offset];return this.normalized&&(t=this._denormalize(t)),t}getY(e){let t=this.data.array[e*this.data.stride+this.offset+1];return this.normalized&&(t=this._denormalize(t)),t}getZ(e){let t=this.data.array[e*this.data.stride+this.offset+2];return this.normalized&&(t=this._denormalize(t)),t}getW(e){let t=this.data.array[e*this.data.stride+this.offset+3];return this.normalized&&(t=this._denormalize(t)),t}setXY(e,t,n){return e=e*this.data.stride+this.offset,this.normalized&&(t=this._normalize(t),n=this._normalize(n)),this.data.array[e+0]=t,this.data.array[e+1]=n,this}setXYZ(e,t,n,r){return e=e*this.data.stride+this.offset,this.normalized&&(t=this._normalize(t),n=this._normalize(n),r=this._normalize(r)),this.data.array[e+0]=t,this.data.array[e+1]=n,this.data.array[e+2]=r,this}setXYZW(e,t,n,r,i){return e=e*this.data.stride+this.offset,this.normalized&&(t=this._normalize(t),n=this._normalize(n),r=this._normalize(r),i=this._normalize(i)),this.data.array[e+0]=t,this.data.array[e+1]=n,this.data.array[e+2]=r,this.data.array[e+3]=i,this}clone(t){if(t===void 0){uu(`InterleavedBufferAttribute.clone(): Cloning an interleaved buffer attribute will de-interleave buffer data.`);let e=[];for(let t=0;t<this.count;t++){let n=t*this.data.stride+this.offset;for(let t=0;t<this.itemSize;t++)e.push(this.data.array[n+t])}return new Of(new this.array.constructor(e),this.itemSize,this.normalized)}return t.interleavedBuffers===void 0&&(t.interleavedBuffers={}),t.interleavedBuffers[this.data.uuid]===void 0&&(t.interleavedBuffers[this.data.uuid]=this.data.clone(t)),new e(t.interleavedBuffers[this.data.uuid],this.itemSize,this.offset,this.normalized)}toJSON(e){if(e===void 0){uu(`InterleavedBufferAttribute.toJSON(): Serializing an interleaved buffer attribute will de-interleave buffer data.`);let e=[];for(let t=0;t<this.count;t++){let n=t*this.data.stride+this.offset;for(let t=0;t<this.itemSize;t++)e.push(this.data.array[n+t])}return{itemSize:this.itemSize,type:this.array.constructor.name,array:e,normalized:this.normalized}}return e.interleavedBuffers===void 0&&(e.interleavedBuffers={}),e.interleavedBuffers[this.data.uuid]===void 0&&(e.interleavedBuffers[this.data.uuid]=this.data.toJSON(e)),{isInterleavedBufferAttribute:!0,itemSize:this.itemSize,data:this.data.uuid,offset:this.offset,normalized:this.normalized}}_denormalize(e){let t=this._normalizationScale;return t===void 0?Bu(e,this.data.array):Math.max(e/t,-1)}_normalize(e){let t=this._normalizationScale;return t===void 0?Vu(e,this.data.array):Math.round(e*t)}},Jf=new Y,Yf=new Y,Xf=new X,Zf=class{constructor(e=new Y(1,0,0),t=0){this.isPlane=!0,this.normal=e,this.constant=t}set(e,t){return this.normal.copy(e),this.constant=t,this}setComponents(e,t,n,r){return this.normal.set(e,t,n),this.constant=r,this}setFromNormalAndCoplanarPoint(e,t){return this.normal.copy(e),this.constant=-t.dot(this.normal),this}setFromCoplanarPoints(e,t,n){let r=Jf.subVectors(n,t).cross(Yf.subVectors(e,t)).normalize();return this.setFromNormalAndCoplanarPoint(r,e),this}copy(e){return this.normal.copy(e.normal),this.constant=e.constant,this}normalize(){let e=1/this.normal.length();return this.normal.multiplyScalar(e),this.constant*=e,this}negate(){return this.constant*=-1,this.normal.negate(),this}distanceToPoint(e){return this.normal.dot(e)+this.constant}distanceToSphere(e){return this.distanceToPoint(e.center)-e.radius}projectPoint(e,t){return t.copy(e).addScaledVector(this.normal,-this.distanceToPoint(e))}intersectLine(e,t,n=!0){let r=e.delta(Jf),i=this.normal.dot(r);if(i===0)return this.distanceToPoint(e.start)===0?t.copy(e.start):null;let a=-(e.start.dot(this.normal)+this.constant)/i;return n===!0&&(a<0||a>1)?null:t.copy(e.start).addScaledVector(r,a)}intersectsLine(e){let t=this.distanceToPoint(e.start),n=this.distanceToPoint(e.end);return t<0&&n>0||n<0&&t>0}intersectsBox(e){return e.intersectsPlane(this)}intersectsSphere(e){return e.intersectsPlane(this)}coplanarPoint(e){return e.copy(this.normal).multiplyScalar(-this.constant)}applyMatrix4(e,t){let n=t||Xf.getNormalMatrix(e),r=this.coplanarPoint(Jf).applyMatrix4(e),i=this.normal.applyMatrix3(n).normalize();return this.constant=-r.dot(i),this}translate(e){return this.constant-=e.dot(this.normal),this}equals(e){return e.normal.equals(this.normal)&&e.constant===this.constant}clone(){return new this.constructor().copy(this)}toJSON(){return{normal:this.normal.toArray(),constant:this.constant}}fromJSON(e){return this.normal.fromArray(e.normal),this.constant=e.constant,this}},Qf=0,$f=class extends hu{constructor(){super(),this.isMaterial=!0,Object.defineProperty(this,"id",{value:Qf++}),this.uuid=bu(),this.name=``,this.type=`Material`,this.blending=1,this.side=0,this.vertexColors=!1,this.opacity=1,this.transparent=!1,this.alphaHash=!1,this.blendSrc=204,this.blendDst=205,this.blendEquation=100,this.blendSrcAlpha=null,this.blendDstAlpha=null,this.blendEquationAlpha=null,this.blendColor=new Z(0,0,0),this.blendAlpha=0,this.depthFunc=3,this.depthTest=!0,this.depthWrite=!0,this.stencilWriteMask=255,this.stencilFunc=519,this.stencilRef=0,this.stencilFuncMask=255,this.stencilFail=nu,this.stencilZFail=nu,this.stencilZPass=nu,this.stencilWrite=!1,this.clippingPlanes=null,this.clipIntersection=!1,this.clipShadows=!1,this.shadowSide=null,this.colorWrite=!0,this.precision=null,this.polygonOffset=!1,this.polygonOffsetFactor=0,this.polygonOffsetUnits=0,this.dithering=!1,this.alphaToCoverage=!1,this.premultipliedAlpha=!1,this.forceSinglePass=!1,this.allowOverride=!0,this.visible=!0,this.toneMapped=!0,this.userData={},this.version=0,this._alphaTest=0}get alphaTest(){return this._alphaTest}set alphaTest(e){this._alphaTest>0!=e>0&&this.version++,this._alphaTest=e}onBeforeRender(){}onBeforeCompile(){}customProgramCacheKey(){return this.onBeforeCompile.toString()}setValues(e){if(e!==void 0)for(let t in e){let n=e[t];if(n===void 0){G(`Material: parameter '${t}' has value of undefined.`);continue}let r=this[t];r===void 0?G(`Material: '${t}' is not a property of THREE.${this.type}.`):r&&r.isColor?r.set(n):r&&r.isVector2&&n&&n.isVector2||r&&r.isEuler&&n&&n.isEuler||r&&r.isVector3&&n&&n.isVector3?r.copy(n):this[t]=n}}toJSON(e){let t=e===void 0||typeof e==`string`;t&&(e={textures:{},images:{}});let n={metadata:{version:4.7,type:`Material`,generator:`Material.toJSON`}};n.uuid=this.uuid,n.type=this.type,n.blending=this.blending,n.side=this.side,n.shadowSide=this.shadowSide,n.vertexColors=this.vertexColors,n.opacity=this.opacity,n.transparent=this.transparent,n.blendSrc=this.blendSrc,n.blendDst=this.blendDst,n.blendEquation=this.blendEquation,n.blendSrcAlpha=this.blendSrcAlpha,n.blendDstAlpha=this.blendDstAlpha,n.blendEquationAlpha=this.blendEquationAlpha,n.blendColor=this.blendColor.getHex(),n.blendAlpha=this.blendAlpha,n.depthFunc=this.depthFunc,n.depthTest=this.depthTest,n.depthWrite=this.depthWrite,n.colorWrite=this.colorWrite,n.clipIntersection=this.clipIntersection,n.clipShadows=this.clipShadows,n.stencilWriteMask=this.stencilWriteMask,n.stencilFunc=this.stencilFunc,n.stencilRef=this.stencilRef,n.stencilFuncMask=this.stencilFuncMask,n.stencilFail=this.stencilFail,n.stencilZFail=this.stencilZFail,n.stencilZPass=this.stencilZPass,n.stencilWrite=this.stencilWrite,n.polygonOffset=this.polygonOffset,n.polygonOffsetFactor=this.polygonOffsetFactor,n.polygonOffsetUnits=this.polygonOffsetUnits,n.dithering=this.dithering,n.alphaTest=this.alphaTest,n.alphaHash=this.alphaHash,n.alphaToCoverage=this.alphaToCoverage,n.premultipliedAlpha=this.premultipliedAlpha,n.forceSinglePass=this.forceSinglePass,n.allowOverride=this.allowOverride,n.visible=this.visible,n.toneMapped=this.toneMapped,n.name=this.name,this.color&&this.color.isColor&&(n.color=this.color.getHex()),this.roughness!==void 0&&(n.roughness=this.roughness),this.metalness!==void 0&&(n.metalness=this.metalness),this.sheen!==void 0&&(n.sheen=this.sheen),this.sheenColor&&this.sheenColor.isColor&&(n.sheenColor=this.sheenColor.getHex()),this.sheenRoughness!==void 0&&(n.sheenRoughness=this.sheenRoughness),this.emissive&&this.emissive.isColor&&(n.emissive=this.emissive.getHex()),this.emissiveIntensity!==void 0&&(n.emissiveIntensity=this.emissiveIntensity),this.specular&&this.specular.isColor&&(n.specular=this.specular.getHex()),this.specularIntensity!==void 0&&(n.specularIntensity=this.specularIntensity),this.specularColor&&this.specularColor.isColor&&(n.specularColor=this.specularColor.getHex()),this.shininess!==void 0&&(n.shininess=this.shininess),this.clearcoat!==void 0&&(n.clearcoat=this.clearcoat),this.clearcoatRoughness!==void 0&&(n.clearcoatRoughness=this.clearcoatRoughness),this.diffuseRoughness!==void 0&&(n.diffuseRoughness=this.diffuseRoughness),this.diffuseRoughnessMap&&this.diffuseRoughnessMap.isTexture&&(n.diffuseRoughnessMap=this.diffuseRoughnessMap.toJSON(e).uuid),this.clearcoatMap&&this.clearcoatMap.isTexture&&(n.clearcoatMap=this.clearcoatMap.toJSON(e).uuid),this.clearcoatRoughnessMap&&this.clearcoatRoughnessMap.isTexture&&(n.clearcoatRoughnessMap=this.clearcoatRoughnessMap.toJSON(e).uuid),this.clearcoatNormalMap&&this.clearcoatNormalMap.isTexture&&(n.clearcoatNormalMap=this.clearcoatNormalMap.toJSON(e).uuid,n.clearcoatNormalScale=this.clearcoatNormalScale.toArray()),this.sheenColorMap&&this.sheenColorMap.isTexture&&(n.sheenColorMap=this.sheenColorMap.toJSON(e).uuid),this.sheenRoughnessMap&&this.sheenRoughnessMap.isTexture&&(n.sheenRoughnessMap=this.sheenRoughnessMap.toJSON(e).uuid),this.dispersion!==void 0&&(n.dispersion=this.dispersion),this.retroreflectivity!==void 0&&(n.retroreflectivity=this.retroreflectivity),this.iridescence!==void 0&&(n.iridescence=this.iridescence),this.iridescenceIOR!==void 0&&(n.iridescenceIOR=this.iridescenceIOR),this.iridescenceThicknessMinimum!==void 0&&(n.iridescenceThicknessMinimum=this.iridescenceThicknessMinimum),this.iridescenceThicknessMaximum!==void 0&&(n.iridescenceThicknessMaximum=this.iridescenceThicknessMaximum),this.iridescenceMap&&this.iridescenceMap.isTexture&&(n.iridescenceMap=this.iridescenceMap.toJSON(e).uuid),this.iridescenceThicknessMap&&this.iridescenceThicknessMap.isTexture&&(n.iridescenceThicknessMap=this.iridescenceThicknessMap.toJSON(e).uuid),this.anisotropy!==void 0&&(n.anisotropy=this.anisotropy),this.anisotropyRotation!==void 0&&(n.anisotropyRotation=this.anisotropyRotation),this.anisotropyMap&&this.anisotropyMap.isTexture&&(n.anisotropyMap=this.anisotropyMap.toJSON(e).uuid),this.map&&this.map.isTexture&&(n.map=this.map.toJSON(e).uuid),this.matcap&&this.matcap.isTexture&&(n.matcap=this.matcap.toJSON(e).uuid),this.alphaMap&&this.alphaMap.isTexture&&(n.alphaMap=this.alphaMap.toJSON(e).uuid),this.lightMap&&this.lightMap.isTexture&&(n.lightMap=this.lightMap.toJSON(e).uuid,n.lightMapIntensity=this.lightMapIntensity),this.aoMap&&this.aoMap.isTexture&&(n.aoMap=this.aoMap.toJSON(e).uuid,n.aoMapIntensity=this.aoMapIntensity),this.bumpMap&&this.bumpMap.isTexture&&(n.bumpMap=this.bumpMap.toJSON(e).uuid,n.bumpScale=this.bumpScale),this.normalMap&&this.normalMap.isTexture&&(n.normalMap=this.normalMap.toJSON(e).uuid,n.normalMapType=this.normalMapType,n.normalScale=this.normalScale.toArray()),this.displacementMap&&this.displacementMap.isTexture&&(n.displacementMap=this.displacementMap.toJSON(e).uuid,n.displacementScale=this.displacementScale,n.displacementBias=this.displacementBias),this.roughnessMap&&this.roughnessMap.isTexture&&(n.roughnessMap=this.roughnessMap.toJSON(e).uuid),this.metalnessMap&&this.metalnessMap.isTexture&&(n.metalnessMap=this.metalnessMap.toJSON(e).uuid),this.emissiveMap&&this.emissiveMap.isTexture&&(n.emissiveMap=this.emissiveMap.toJSON(e).uuid),this.specularMap&&this.specularMap.isTexture&&(n.specularMap=this.specularMap.toJSON(e).uuid),this.specularIntensityMap&&this.specularIntensityMap.isTexture&&(n.specularIntensityMap=this.specularIntensityMap.toJSON(e).uuid),this.specularColorMap&&this.specularColorMap.isTexture&&(n.specularColorMap=this.specularColorMap.toJSON(e).uuid),this.envMap&&this.envMap.isTexture&&(n.envMap=this.envMap.toJSON(e).uuid,this.combine!==void 0&&(n.combine=this.combine)),this.envMapRotation!==void 0&&(n.envMapRotation=this.envMapRotation.toArray()),this.envMapIntensity!==void 0&&(n.envMapIntensity=this.envMapIntensity),this.reflectivity!==void 0&&(n.reflectivity=this.reflectivity),this.refractionRatio!==void 0&&(n.refractionRatio=this.refractionRatio),this.gradientMap&&this.gradientMap.isTexture&&(n.gradientMap=this.gradientMap.toJSON(e).uuid),this.transmission!==void 0&&(n.transmission=this.transmission),this.transmissionMap&&this.transmissionMap.isTexture&&(n.transmissionMap=this.transmissionMap.toJSON(e).uuid),this.thickness!==void 0&&(n.thickness=this.thickness),this.thicknessMap&&this.thicknessMap.isTexture&&(n.thicknessMap=this.thicknessMap.toJSON(e).uuid),this.attenuationDistance!==void 0&&(n.attenuationDistance=this.attenuationDistance),this.attenuationColor!==void 0&&(n.attenuationColor=this.attenuationColor.getHex()),this.size!==void 0&&(n.size=this.size),this.sizeAttenuation!==void 0&&(n.sizeAttenuation=this.sizeAttenuation),Array.isArray(this.clippingPlanes)&&this.clippingPlanes.length>0&&(n.clippingPlanes=this.clippingPlanes.map(e=>e.toJSON())),this.rotation!==void 0&&(n.rotation=this.rotation),this.depthPacking!==void 0&&(n.depthPacking=this.depthPacking),this.linewidth!==void 0&&(n.linewidth=this.linewidth),this.linecap!==void 0&&(n.linecap=this.linecap),this.linejoin!==void 0&&(n.linejoin=this.linejoin),this.dashSize!==void 0&&(n.dashSize=this.dashSize),this.gapSize!==void 0&&(n.gapSize=this.gapSize),this.scale!==void 0&&(n.scale=this.scale),this.wireframe!==void 0&&(n.wireframe=this.wireframe),this.wireframeLinewidth!==void 0&&(n.wireframeLinewidth=this.wireframeLinewidth),this.wireframeLinecap!==void 0&&(n.wireframeLinecap=this.wireframeLinecap),this.wireframeLinejoin!==void 0&&(n.wireframeLinejoin=this.wireframeLinejoin),this.flatShading!==void 0&&(n.flatShading=this.flatShading),this.fog!==void 0&&(n.fog=this.fog),Object.keys(this.userData).length>0&&(n.userData=this.userData);function r(e){let t=[];for(let n in e){let r=e[n];delete r.metadata,t.push(r)}return t}if(t){let t=r(e.textures),i=r(e.images);t.length>0&&(n.textures=t),i.length>0&&(n.images=i)}return n}fromJSON(e,t){if(e.uuid!==void 0&&(this.uuid=e.uuid),e.name!==void 0&&(this.name=e.name),e.color!==void 0&&this.color!==void 0&&this.color.setHex(e.color),e.roughness!==void 0&&(this.roughness=e.roughness),e.metalness!==void 0&&(this.metalness=e.metalness),e.sheen!==void 0&&(this.sheen=e.sheen),e.sheenColor!==void 0&&(this.sheenColor=new Z().setHex(e.sheenColor)),e.sheenRoughness!==void 0&&(this.sheenRoughness=e.sheenRoughness),e.emissive!==void 0&&this.emissive!==void 0&&this.emissive.setHex(e.emissive),e.specular!==void 0&&this.specular!==void 0&&this.specular.setHex(e.specular),e.specularIntensity!==void 0&&(this.specularIntensity=e.specularIntensity),e.specularColor!==void 0&&this.specularColor!==void 0&&this.specularColor.setHex(e.specularColor),e.shininess!==void 0&&(this.shininess=e.shininess),e.clearcoat!==void 0&&(this.clearcoat=e.clearcoat),e.clearcoatRoughness!==void 0&&(this.clearcoatRoughness=e.clearcoatRoughness),e.diffuseRoughness!==void 0&&(this.diffuseRoughness=e.diffuseRoughness),e.dispersion!==void 0&&(this.dispersion=e.dispersion),e.retroreflectivity!==void 0&&(this.retroreflectivity=e.retroreflectivity),e.iridescence!==void 0&&(this.iridescence=e.iridescence),e.iridescenceIOR!==void 0&&(this.iridescenceIOR=e.iridescenceIOR),e.iridescenceThicknessMinimum!==void 0&&(this.iridescenceThicknessMinimum=e.iridescenceThicknessMinimum),e.iridescenceThicknessMaximum!==void 0&&(this.iridescenceThicknessMaximum=e.iridescenceThicknessMaximum),e.iridescenceThicknessRange!==void 0&&(this.iridescenceThicknessMinimum=e.iridescenceThicknessRange[0],this.iridescenceThicknessMaximum=e.iridescenceThicknessRange[1]),e.transmission!==void 0&&(this.transmission=e.transmission),e.thickness!==void 0&&(this.thickness=e.thickness),e.attenuationDistance!==void 0&&(this.attenuationDistance=e.attenuationDistance),e.attenuationColor!==void 0&&this.attenuationColor!==void 0&&this.attenuationColor.setHex(e.attenuationColor),e.anisotropy!==void 0&&(this.anisotropy=e.anisotropy),e.anisotropyRotation!==void 0&&(this.anisotropyRotation=e.anisotropyRotation),e.fog!==void 0&&(this.fog=e.fog),e.flatShading!==void 0&&(this.flatShading=e.flatShading),e.blending!==void 0&&(this.blending=e.blending),e.combine!==void 0&&(this.combine=e.combine),e.side!==void 0&&(this.side=e.side),e.shadowSide!==void 0&&(this.shadowSide=e.shadowSide),e.opacity!==void 0&&(this.opacity=e.opacity),e.transparent!==void 0&&(this.transparent=e.transparent),e.alphaTest!==void 0&&(this.alphaTest=e.alphaTest),e.alphaHash!==void 0&&(this.alphaHash=e.alphaHash),e.depthFunc!==void 0&&(this.depthFunc=e.depthFunc),e.depthTest!==void 0&&(this.depthTest=e.depthTest),e.depthWrite!==void 0&&(this.depthWrite=e.depthWrite),e.colorWrite!==void 0&&(this.colorWrite=e.colorWrite),e.clippingPlanes!==void 0&&(this.clippingPlanes=e.clippingPlanes.map(e=>new Zf().fromJSON(e))),e.clipIntersection!==void 0&&(this.clipIntersection=e.clipIntersection),e.clipShadows!==void 0&&(this.clipShadows=e.clipShadows),e.depthPacking!==void 0&&(this.depthPacking=e.depthPacking),e.blendSrc!==void 0&&(this.blendSrc=e.blendSrc),e.blendDst!==void 0&&(this.blendDst=e.blendDst),e.blendEquation!==void 0&&(this.blendEquation=e.blendEquation),e.blendSrcAlpha!==void 0&&(this.blendSrcAlpha=e.blendSrcAlpha),e.blendDstAlpha!==void 0&&(this.blendDstAlpha=e.blendDstAlpha),e.blendEquationAlpha!==void 0&&(this.blendEquationAlpha=e.blendEquationAlpha),e.blendColor!==void 0&&this.blendColor!==void 0&&this.blendColor.setHex(e.blendColor),e.blendAlpha!==void 0&&(this.blendAlpha=e.blendAlpha),e.stencilWriteMask!==void 0&&(this.stencilWriteMask=e.stencilWriteMask),e.stencilFunc!==void 0&&(this.stencilFunc=e.stencilFunc),e.stencilRef!==void 0&&(this.stencilRef=e.stencilRef),e.stencilFuncMask!==void 0&&(this.stencilFuncMask=e.stencilFuncMask),e.stencilFail!==void 0&&(this.stencilFail=e.stencilFail),e.stencilZFail!==void 0&&(this.stencilZFail=e.stencilZFail),e.stencilZPass!==void 0&&(this.stencilZPass=e.stencilZPass),e.stencilWrite!==void 0&&(this.stencilWrite=e.stencilWrite),e.wireframe!==void 0&&(this.wireframe=e.wireframe),e.wireframeLinewidth!==void 0&&(this.wireframeLinewidth=e.wireframeLinewidth),e.wireframeLinecap!==void 0&&(this.wireframeLinecap=e.wireframeLinecap),e.wireframeLinejoin!==void 0&&(this.wireframeLinejoin=e.wireframeLinejoin),e.rotation!==void 0&&(this.rotation=e.rotation),e.linewidth!==void 0&&(this.linewidth=e.linewidth),e.linecap!==void 0&&(this.linecap=e.linecap),e.linejoin!==void 0&&(this.linejoin=e.linejoin),e.dashSize!==void 0&&(this.dashSize=e.dashSize),e.gapSize!==void 0&&(this.gapSize=e.gapSize),e.scale!==void 0&&(this.scale=e.scale),e.polygonOffset!==void 0&&(this.polygonOffset=e.polygonOffset),e.polygonOffsetFactor!==void 0&&(this.polygonOffsetFactor=e.polygonOffsetFactor),e.polygonOffsetUnits!==void 0&&(this.polygonOffsetUnits=e.polygonOffsetUnits),e.dithering!==void 0&&(this.dithering=e.dithering),e.alphaToCoverage!==void 0&&(this.alphaToCoverage=e.alphaToCoverage),e.premultipliedAlpha!==void 0&&(this.premultipliedAlpha=e.premultipliedAlpha),e.forceSinglePass!==void 0&&(this.forceSinglePass=e.forceSinglePass),e.allowOverride!==void 0&&(this.allowOverride=e.allowOverride),e.visible!==void 0&&(this.visible=e.visible),e.toneMapped!==void 0&&(this.toneMapped=e.toneMapped),e.userData!==void 0&&(this.userData=e.userData),e.vertexColors!==void 0&&(this.vertexColors=typeof e.vertexColors==`number`?e.vertexColors>0:e.vertexColors),e.size!==void 0&&(this.size=e.size),e.sizeAttenuation!==void 0&&(this.sizeAttenuation=e.sizeAttenuation),e.map!==void 0&&(this.map=t[e.map]||null),e.matcap!==void 0&&(this.matcap=t[e.matcap]||null),e.alphaMap!==void 0&&(this.alphaMap=t[e.alphaMap]||null),e.bumpMap!==void 0&&(this.bumpMap=t[e.bumpMap]||null),e.bumpScale!==void 0&&(this.bumpScale=e.bumpScale),e.normalMap!==void 0&&(this.normalMap=t[e.normalMap]||null),e.normalMapType!==void 0&&(this.normalMapType=e.normalMapType),e.normalScale!==void 0){let t=e.normalScale;Array.isArray(t)===!1&&(t=[t,t]),this.normalScale=new J().fromArray(t)}return e.displacementMap!==void 0&&(this.displacementMap=t[e.displacementMap]||null),e.displacementScale!==void 0&&(this.displacementScale=e.displacementScale),e.displacementBias!==void 0&&(this.displacementBias=e.displacementBias),e.roughnessMap!==void 0&&(this.roughnessMap=t[e.roughnessMap]||null),e.metalnessMap!==void 0&&(this.metalnessMap=t[e.metalnessMap]||null),e.emissiveMap!==void 0&&(this.emissiveMap=t[e.emissiveMap]||null),e.emissiveIntensity!==void 0&&(this.emissiveIntensity=e.emissiveIntensity),e.specularMap!==void 0&&(this.specularMap=t[e.specularMap]||null),e.specularIntensityMap!==void 0&&(this.specularIntensityMap=t[e.specularIntensityMap]||null),e.specularColorMap!==void 0&&(this.specularColorMap=t[e.specularColorMap]||null),e.envMap!==void 0&&(this.envMap=t[e.envMap]||null),e.envMapRotation!==void 0&&this.envMapRotation.fromArray(e.envMapRotation),e.envMapIntensity!==void 0&&(this.envMapIntensity=e.envMapIntensity),e.reflectivity!==void 0&&(this.reflectivity=e.reflectivity),e.refractionRatio!==void 0&&(this.refractionRatio=e.refractionRatio),e.lightMap!==void 0&&(this.lightMap=t[e.lightMap]||null),e.lightMapIntensity!==void 0&&(this.lightMapIntensity=e.lightMapIntensity),e.aoMap!==void 0&&(this.aoMap=t[e.aoMap]||null),e.aoMapIntensity!==void 0&&(this.aoMapIntensity=e.aoMapIntensity),e.gradientMap!==void 0&&(this.gradientMap=t[e.gradientMap]||null),e.clearcoatMap!==void 0&&(this.clearcoatMap=t[e.clearcoatMap]||null),e.clearcoatRoughnessMap!==void 0&&(this.clearcoatRoughnessMap=t[e.clearcoatRoughnessMap]||null),e.clearcoatNormalMap!==void 0&&(this.clearcoatNormalMap=t[e.clearcoatNormalMap]||null),e.clearcoatNormalScale!==void 0&&(this.clearcoatNormalScale=new J().fromArray(e.clearcoatNormalScale)),e.diffuseRoughnessMap!==void 0&&(this.diffuseRoughnessMap=t[e.diffuseRoughnessMap]||null),e.iridescenceMap!==void 0&&(this.iridescenceMap=t[e.iridescenceMap]||null),e.iridescenceThicknessMap!==void 0&&(this.iridescenceThicknessMap=t[e.iridescenceThicknessMap]||null),e.transmissionMap!==void 0&&(this.transmissionMap=t[e.transmissionMap]||null),e.thicknessMap!==void 0&&(this.thicknessMap=t[e.thicknessMap]||null),e.anisotropyMap!==void 0&&(this.anisotropyMap=t[e.anisotropyMap]||null),e.sheenColorMap!==void 0&&(this.sheenColorMap=t[e.sheenColorMap]||null),e.sheenRoughnessMap!==void 0&&(this.sheenRoughnessMap=t[e.sheenRoughnessMap]||null),this}clone(){return new this.constructor().copy(this)}copy(e){this.name=e.name,this.blending=e.blending,this.side=e.side,this.vertexColors=e.vertexColors,this.opacity=e.opacity,this.transparent=e.transparent,this.blendSrc=e.blendSrc,this.blendDst=e.blendDst,this.blendEquation=e.blendEquation,this.blendSrcAlpha=e.blendSrcAlpha,this.blendDstAlpha=e.blendDstAlpha,this.blendEquationAlpha=e.blendEquationAlpha,this.blendColor.copy(e.blendColor),this.blendAlpha=e.blendAlpha,this.depthFunc=e.depthFunc,this.depthTest=e.depthTest,this.depthWrite=e.depthWrite,this.stencilWriteMask=e.stencilWriteMask,this.stencilFunc=e.stencilFunc,this.stencilRef=e.stencilRef,this.stencilFuncMask=e.stencilFuncMask,this.stencilFail=e.stencilFail,this.stencilZFail=e.stencilZFail,this.stencilZPass=e.stencilZPass,this.stencilWrite=e.stencilWrite;let t=e.clippingPlanes,n=null;if(t!==null){let e=t.length;n=Array(e);for(let r=0;r!==e;++r)n[r]=t[r].clone()}return this.clippingPlanes=n,this.clipIntersection=e.clipIntersection,this.clipShadows=e.clipShadows,this.shadowSide=e.shadowSide,this.colorWrite=e.colorWrite,this.precision=e.precision,this.polygonOffset=e.polygonOffset,this.polygonOffsetFactor=e.polygonOffsetFactor,this.polygonOffsetUnits=e.polygonOffsetUnits,this.dithering=e.dithering,this.alphaTest=e.alphaTest,this.alphaHash=e.alphaHash,this.alphaToCoverage=e.alphaToCoverage,this.premultipliedAlpha=e.premultipliedAlpha,this.forceSinglePass=e.forceSinglePass,this.allowOverride=e.allowOverride,this.visible=e.visible,this.toneMapped=e.toneMapped,this.userData=JSON.parse(JSON.stringify(e.userData)),this}dispose(){this.dispatchEvent({type:`dispose`})}set needsUpdate(e){e===!0&&this.version++}},ep=new Y,tp=new Y,np=new Y,rp=new Y,ip=class{constructor(e=new Y,t=new Y(0,0,-1)){this.origin=e,this.direction=t}set(e,t){return this.origin.copy(e),this.direction.copy(t),this}copy(e){return this.origin.copy(e.origin),this.direction.copy(e.direction),this}at(e,t){return t.copy(this.origin).addScaledVector(this.direction,e)}lookAt(e){return this.direction.copy(e).sub(this.origin).normalize(),this}recast(e){return this.origin.copy(this.at(e,ep)),this}closestPointToPoint(e,t){t.subVectors(e,this.origin);let n=t.dot(this.direction);return n<0?t.copy(this.origin):t.copy(this.origin).addScaledVector(this.direction,n)}distanceToPoint(e){return Math.sqrt(this.distanceSqToPoint(e))}distanceSqToPoint(e){let t=ep.subVectors(e,this.origin).dot(this.direction);return t<0?this.origin.distanceToSquared(e):(ep.copy(this.origin).addScaledVector(this.direction,t),ep.distanceToSquared(e))}distanceSqToSegment(e,t,n,r){tp.copy(e).add(t).multiplyScalar(.5),np.copy(t).sub(e).normalize(),rp.copy(this.origin).sub(tp);let i=e.distanceTo(t)*.5,a=-this.direction.dot(np),o=rp.dot(this.direction),s=-rp.dot(np),c=rp.lengthSq(),l=Math.abs(1-a*a),u,d,f,p;if(l>0){if(u=a*s-o,d=a*o-s,p=i*l,u>=0){if(d>=-p){if(d<=p){let e=1/l;u*=e,d*=e,f=u*(u+a*d+2*o)+d*(a*u+d+2*s)+c}else d=i,u=Math.max(0,-(a*d+o)),f=-u*u+d*(d+2*s)+c}else d=-i,u=Math.max(0,-(a*d+o)),f=-u*u+d*(d+2*s)+c}else d<=-p?(u=Math.max(0,-(-a*i+o)),d=u>0?-i:Math.min(Math.max(-i,-s),i),f=-u*u+d*(d+2*s)+c):d<=p?(u=0,d=Math.min(Math.max(-i,-s),i),f=d*(d+2*s)+c):(u=Math.max(0,-(a*i+o)),d=u>0?i:Math.min(Math.max(-i,-s),i),f=-u*u+d*(d+2*s)+c)}else d=a>0?-i:i,u=Math.max(0,-(a*d+o)),f=-u*u+d*(d+2*s)+c;return n&&n.copy(this.origin).addScaledVector(this.direction,u),r&&r.copy(tp).addScaledVector(np,d),f}intersectSphere(e,t){if(e.radius<0)return null;ep.subVectors(e.center,this.origin);let n=ep.dot(this.direction),r=ep.dot(ep)-n*n,i=e.radius*e.radius;if(r>i)return null;let a=Math.sqrt(i-r),o=n-a,s=n+a;return s<0?null:o<0?this.at(s,t):this.at(o,t)}intersectsSphere(e){return e.radius<0?!1:this.distanceSqToPoint(e.center)<=e.radius*e.radius}distanceToPlane(e){let t=e.normal.dot(this.direction);if(t===0)return e.distanceToPoint(this.origin)===0?0:null;let n=-(this.origin.dot(e.normal)+e.constant)/t;return n>=0?n:null}intersectPlane(e,t){let n=this.distanceToPlane(e);return n===null?null:this.at(n,t)}intersectsPlane(e){let t=e.distanceToPoint(this.origin);return t===0||e.normal.dot(this.direction)*t<0}intersectBox(e,t){let n,r,i,a,o,s,c=1/this.direction.x,l=1/this.direction.y,u=1/this.direction.z,d=this.origin;return c>=0?(n=(e.min.x-d.x)*c,r=(e.max.x-d.x)*c):(n=(e.max.x-d.x)*c,r=(e.min.x-d.x)*c),l>=0?(i=(e.min.y-d.y)*l,a=(e.max.y-d.y)*l):(i=(e.max.y-d.y)*l,a=(e.min.y-d.y)*l),n>a||i>r||((i>n||isNaN(n))&&(n=i),(a<r||isNaN(r))&&(r=a),u>=0?(o=(e.min.z-d.z)*u,s=(e.max.z-d.z)*u):(o=(e.max.z-d.z)*u,s=(e.min.z-d.z)*u),n>s||o>r)||((o>n||n!==n)&&(n=o),(s<r||r!==r)&&(r=s),r<0)?null:this.at(n>=0?n:r,t)}intersectsBox(e){return this.intersectBox(e,ep)!==null}intersectTriangle(e,t,n,r,i){let a=this.origin,o=this.direction,s=o.x,c=o.y,l=o.z,u=e.x-a.x,d=e.y-a.y,f=e.z-a.z,p=t.x-a.x,m=t.y-a.y,h=t.z-a.z,g=n.x-a.x,_=n.y-a.y,v=n.z-a.z,y=Math.abs(s),b=Math.abs(c),x=Math.abs(l),S,C,w,T,E,D,O,k,A,j,ee,M;if(y>=b&&y>=x?(w=s,D=u,A=p,M=g,s>=0?(S=c,C=l,T=d,E=f,O=m,k=h,j=_,ee=v):(S=l,C=c,T=f,E=d,O=h,k=m,j=v,ee=_)):b>=x?(w=c,D=d,A=m,M=_,c>=0?(S=l,C=s,T=f,E=u,O=h,k=p,j=v,ee=g):(S=s,C=l,T=u,E=f,O=p,k=h,j=g,ee=v)):(w=l,D=f,A=h,M=v,l>=0?(S=s,C=c,T=u,E=d,O=p,k=m,j=g,ee=_):(S=c,C=s,T=d,E=u,O=m,k=p,j=_,ee=g)),w===0)return null;let te=S/w,ne=C/w,re=1/w,ie=T-te*D,ae=E-ne*D,oe=O-te*A,se=k-ne*A,ce=j-te*M,le=ee-ne*M,N=ce*se-le*oe,ue=ie*le-ae*ce,de=oe*ae-se*ie;if(r){if(N<0||ue<0||de<0)return null}else if((N<0||ue<0||de<0)&&(N>0||ue>0||de>0))return null;let fe=N+ue+de;if(fe===0)return null;let pe=re*(N*D+ue*A+de*M);return(fe>0?pe<0:pe>0)?null:this.at(pe/fe,i)}applyMatrix4(e){return this.origin.applyMatrix4(e),this.direction.transformDirection(e),this}equals(e){return e.origin.equals(this.origin)&&e.direction.equals(this.direction)}clone(){return new this.constructor().copy(this)}},ap=class extends $f{constructor(e){super(),this.isMeshBasicMaterial=!0,this.type=`MeshBasicMaterial`,this.color=new Z(16777215),this.map=null,this.lightMap=null,this.lightMapIntensity=1,this.aoMap=null,this.aoMapIntensity=1,this.specularMap=null,this.alphaMap=null,this.envMap=null,this.envMapRotation=new Sd,this.combine=0,this.reflectivity=1,this.refractionRatio=.98,this.wireframe=!1,this.wireframeLinewidth=1,this.wireframeLinecap=`round`,this.wireframeLinejoin=`round`,this.fog=!0,this.setValues(e)}copy(e){return super.copy(e),this.color.copy(e.color),this.map=e.map,this.lightMap=e.lightMap,this.lightMapIntensity=e.lightMapIntensity,this.aoMap=e.aoMap,this.aoMapIntensity=e.aoMapIntensity,this.specularMap=e.specularMap,this.alphaMap=e.alphaMap,this.envMap=e.envMap,this.envMapRotation.copy(e.envMapRotation),this.combine=e.combine,this.reflectivity=e.reflectivity,this.refractionRatio=e.refractionRatio,this.wireframe=e.wireframe,this.wireframeLinewidth=e.wireframeLinewidth,this.wireframeLinecap=e.wireframeLinecap,this.wireframeLinejoin=e.wireframeLinejoin,this.fog=e.fog,this}},op=new fd,sp=new ip,cp=new Ff,lp=new Y,up=new Y,dp=new Y,fp=new Y,pp=new Y,mp=new Y,hp=new Y,gp=new Y,_p=class extends zd{constructor(e=new Uf,t=new ap){super(),this.isMesh=!0,this.type=`Mesh`,this.geometry=e,this.material=t,this.morphTargetDictionary=void 0,this.morphTargetInfluences=void 0,this.count=1,this.updateMorphTargets()}copy(e,t){return super.copy(e,t),this.morphTargetInfluences=e.morphTargetInfluences===void 0?void 0:e.morphTargetInfluences.slice(),this.morphTargetDictionary=e.morphTargetDictionary===void 0?void 0:Object.assign({},e.morphTargetDictionary),this.material=Array.isArray(e.material)?e.material.slice():e.material,this.geometry=e.geometry,this}updateMorphTargets(){let e=this.geometry.morphAttributes,t=Object.keys(e);if(t.length>0){let n=e[t[0]];if(n!==void 0){this.morphTargetInfluences=[],this.morphTargetDictionary={};for(let e=0,t=n.length;e<t;e++){let t=n[e].name||String(e);this.morphTargetInfluences.push(0),this.morphTargetDictionary[t]=e}}}}getVertexPosition(e,t){let n=this.geometry,r=n.attributes.position,i=n.morphAttributes.position,a=n.morphTargetsRelative;t.fromBufferAttribute(r,e);let o=this.morphTargetInfluences;if(i&&o){mp.set(0,0,0);for(let n=0,r=i.length;n<r;n++){let r=o[n],s=i[n];r!==0&&(pp.fromBufferAttribute(s,e),a?mp.addScaledVector(pp,r):mp.addScaledVector(pp.sub(t),r))}t.add(mp)}return t}intersectsFrustum(e){return e.intersectsObject(this)}raycast(e,t){let n=this.geometry,r=this.material,i=this.matrixWorld;r!==void 0&&(n.boundingSphere===null&&n.computeBoundingSphere(),cp.copy(n.boundingSphere),cp.applyMatrix4(i),sp.copy(e.ray).recast(e.near),cp.containsPoint(sp.origin)===!1&&(sp.intersectSphere(cp,lp)===null||sp.origin.distanceToSquared(lp)>(e.far-e.near)**2)||(op.copy(i).invert(),sp.copy(e.ray).applyMatrix4(op),(n.boundingBox===null||sp.intersectsBox(n.boundingBox)!==!1)&&this._computeIntersections(e,t,sp)))}_computeIntersections(e,t,n){let r,i=this.geometry,a=this.material,o=i.index,s=i.attributes.position,c=i.attributes.uv,l=i.attributes.uv1,u=i.attributes.normal,d=i.groups,f=i.drawRange;if(o!==null){if(Array.isArray(a))for(let i=0,s=d.length;i<s;i++){let s=d[i],p=a[s.materialIndex],m=Math.max(s.start,f.start),h=Math.min(o.count,Math.min(s.start+s.count,f.start+f.count));for(let i=m,a=h;i<a;i+=3){let a=o.getX(i),d=o.getX(i+1),f=o.getX(i+2);r=yp(this,p,e,n,c,l,u,a,d,f),r&&(r.faceIndex=Math.floor(i/3),r.face.materialIndex=s.materialIndex,t.push(r))}}else{let i=Math.max(0,f.start),s=Math.min(o.count,f.start+f.count);for(let d=i,f=s;d<f;d+=3){let i=o.getX(d),s=o.getX(d+1),f=o.getX(d+2);r=yp(this,a,e,n,c,l,u,i,s,f),r&&(r.faceIndex=Math.floor(d/3),t.push(r))}}}else if(s!==void 0){if(Array.isArray(a))for(let i=0,o=d.length;i<o;i++){let o=d[i],p=a[o.materialIndex],m=Math.max(o.start,f.start),h=Math.min(s.count,Math.min(o.start+o.count,f.start+f.count));for(let i=m,a=h;i<a;i+=3){let a=i,s=i+1,d=i+2;r=yp(this,p,e,n,c,l,u,a,s,d),r&&(r.faceIndex=Math.floor(i/3),r.face.materialIndex=o.materialIndex,t.push(r))}}else{let i=Math.max(0,f.start),o=Math.min(s.count,f.start+f.count);for(let s=i,d=o;s<d;s+=3){let i=s,o=s+1,d=s+2;r=yp(this,a,e,n,c,l,u,i,o,d),r&&(r.faceIndex=Math.floor(s/3),t.push(r))}}}}};function vp(e,t,n,r,i,a,o,s){let c;if(c=t.side===1?r.intersectTriangle(o,a,i,!0,s):r.intersectTriangle(i,a,o,t.side===0,s),c===null)return null;gp.copy(s),gp.applyMatrix4(e.matrixWorld);let l=n.ray.origin.distanceTo(gp);return l<n.near||l>n.far?null:{distance:l,point:gp.clone(),object:e}}function yp(e,t,n,r,i,a,o,s,c,l){e.getVertexPosition(s,up),e.getVertexPosition(c,dp),e.getVertexPosition(l,fp);let u=vp(e,t,n,r,up,dp,fp,hp);if(u){let e=new Y;lf.getBarycoord(hp,up,dp,fp,e),i&&(u.uv=lf.getInterpolatedAttribute(i,s,c,l,e,new J)),a&&(u.uv1=lf.getInterpolatedAttribute(a,s,c,l,e,new J)),o&&(u.normal=lf.getInterpolatedAttribute(o,s,c,l,e,new Y),u.normal.dot(r.direction)>0&&u.normal.multiplyScalar(-1));let t={a:s,b:c,c:l,normal:new Y,materialIndex:0};lf.getNormal(up,dp,fp,t.normal),u.face=t,u.barycoord=e}return u}var bp=class extends od{constructor(e=null,t=1,n=1,r,i,a,o,s,c=Nc,l=Nc,u,d){super(null,a,o,s,c,l,r,i,u,d),this.isDataTexture=!0,this.image={data:e,width:t,height:n},this.generateMipmaps=!1,this.flipY=!1,this.unpackAlignment=1}},xp=class extends Of{constructor(e,t,n,r=1){super(e,t,n),this.isInstancedBufferAttribute=!0,this.meshPerAttribute=r}copy(e){return super.copy(e),this.meshPerAttribute=e.meshPerAttribute,this}toJSON(){let e=super.toJSON();return e.meshPerAttribute=this.meshPerAttribute,e.isInstancedBufferAttribute=!0,e}},Sp=new fd,Cp=new fd,wp=[],Tp=new uf,Ep=new fd,Dp=new _p,Op=new Ff,kp=class extends _p{constructor(e,t,n){super(e,t),this.isInstancedMesh=!0,this.instanceMatrix=new xp(new Float32Array(n*16),16),this.instanceColor=null,this.morphTexture=null,this.count=n,this.boundingBox=null,this.boundingSphere=null;for(let e=0;e<n;e++)this.setMatrixAt(e,Ep)}computeBoundingBox(){let e=this.geometry,t=this.count;this.boundingBox===null&&(this.boundingBox=new uf),e.boundingBox===null&&e.computeBoundingBox(),this.boundingBox.makeEmpty();for(let n=0;n<t;n++)this.getMatrixAt(n,Sp),Tp.copy(e.boundingBox).applyMatrix4(Sp),this.boundingBox.union(Tp)}computeBoundingSphere(){let e=this.geometry,t=this.count;this.boundingSphere===null&&(this.boundingSphere=new Ff),e.boundingSphere===null&&e.computeBoundingSphere(),this.boundingSphere.makeEmpty();for(let n=0;n<t;n++)this.getMatrixAt(n,Sp),Op.copy(e.boundingSphere).applyMatrix4(Sp),this.boundingSphere.union(Op)}copy(e,t){return super.copy(e,t),this.instanceMatrix.copy(e.instanceMatrix),this.morphTexture=e.morphTexture===null?null:e.morphTexture.clone(),this.instanceColor=e.instanceColor===null?null:e.instanceColor.clone(),this.count=e.count,this.boundingBox=e.boundingBox===null?null:e.boundingBox.clone(),this.boundingSphere=e.boundingSphere===null?null:e.boundingSphere.clone(),this}getColorAt(e,t){return this.instanceColor===null?t.setRGB(1,1,1):t.fromArray(this.instanceColor.array,e*3)}getMatrixAt(e,t){return t.fromArray(this.instanceMatrix.array,e*16)}getMorphAt(e,t){let n=t.morphTargetInfluences,r=this.morphTexture.source.data.data,i=e*(n.length+1)+1;for(let e=0;e<n.length;e++)n[e]=r[i+e]}raycast(e,t){let n=this.matrixWorld,r=this.count;if(Dp.geometry=this.geometry,Dp.material=this.material,Dp.material!==void 0&&(this.boundingSphere===null&&this.computeBoundingSphere(),Op.copy(this.boundingSphere),Op.applyMatrix4(n),e.ray.intersectsSphere(Op)!==!1))for(let i=0;i<r;i++){this.getMatrixAt(i,Sp),Cp.multiplyMatrices(n,Sp),Dp.matrixWorld=Cp,Dp.raycast(e,wp);for(let e=0,n=wp.length;e<n;e++){let n=wp[e];n.instanceId=i,n.object=this,t.push(n)}wp.length=0}}setColorAt(e,t){return this.instanceColor===null&&(this.instanceColor=new xp(new Float32Array(this.instanceMatrix.count*3).fill(1),3)),t.toArray(this.instanceColor.array,e*3),this}setMatrixAt(e,t){return t.toArray(this.instanceMatrix.array,e*16),this}setMorphAt(e,t){let n=t.morphTargetInfluences,r=n.length+1;this.morphTexture===null&&(this.morphTexture=new bp(new Float32Array(r*this.count),r,this.count,rl,Gc));let i=this.morphTexture.source.data.data,a=0;for(let e=0;e<n.length;e++)a+=n[e];let o=this.geometry.morphTargetsRelative?1:1-a,s=r*e;return i[s]=o,i.set(n,s+1),this}updateMorphTargets(){}dispose(){super.dispose(),this.instanceMatrix.dispose(),this.instanceColor!==null&&this.instanceColor.dispose(),this.morphTexture!==null&&(this.morphTexture.dispose(),this.morphTexture=null)}},Ap=new Ff,jp=new J(.5,.5),Mp=new Y,Np=class{constructor(e=new Zf,t=new Zf,n=new Zf,r=new Zf,i=new Zf,a=new Zf){this.planes=[e,t,n,r,i,a]}set(e,t,n,r,i,a){let o=this.planes;return o[0].copy(e),o[1].copy(t),o[2].copy(n),o[3].copy(r),o[4].copy(i),o[5].copy(a),this}copy(e){let t=this.planes;for(let n=0;n<6;n++)t[n].copy(e.planes[n]);return this}setFromProjectionMatrix(e,t=iu,n=!1){let r=this.planes,i=e.elements,a=i[0],o=i[1],s=i[2],c=i[3],l=i[4],u=i[5],d=i[6],f=i[7],p=i[8],m=i[9],h=i[10],g=i[11],_=i[12],v=i[13],y=i[14],b=i[15];if(r[0].setComponents(c-a,f-l,g-p,b-_).normalize(),r[1].setComponents(c+a,f+l,g+p,b+_).normalize(),r[2].setComponents(c+o,f+u,g+m,b+v).normalize(),r[3].setComponents(c-o,f-u,g-m,b-v).normalize(),n)r[4].setComponents(s,d,h,y).normalize(),r[5].setComponents(c-s,f-d,g-h,b-y).normalize();else if(r[4].setComponents(c-s,f-d,g-h,b-y).normalize(),t===2e3)r[5].setComponents(c+s,f+d,g+h,b+y).normalize();else if(t===2001)r[5].setComponents(s,d,h,y).normalize();else throw Error(`THREE.Frustum.setFromProjectionMatrix(): Invalid coordinate system: `+t);return this}intersectsObject(e){if(e.boundingSphere!==void 0)e.boundingSphere===null&&e.computeBoundingSphere(),Ap.copy(e.boundingSphere).applyMatrix4(e.matrixWorld);else{let t=e.geometry;t.boundingSphere===null&&t.computeBoundingSphere(),Ap.copy(t.boundingSphere).applyMatrix4(e.matrixWorld)}return this.intersectsSphere(Ap)}intersectsSprite(e){return Ap.center.set(0,0,0),Ap.radius=.7071067811865476+jp.distanceTo(e.center),Ap.applyMatrix4(e.matrixWorld),this.intersectsSphere(Ap)}intersectsSphere(e){let t=this.planes,n=e.center,r=-e.radius;for(let e=0;e<6;e++)if(t[e].distanceToPoint(n)<r)return!1;return!0}intersectsBox(e){let t=this.planes;for(let n=0;n<6;n++){let r=t[n];if(Mp.x=r.normal.x>0?e.max.x:e.min.x,Mp.y=r.normal.y>0?e.max.y:e.min.y,Mp.z=r.normal.z>0?e.max.z:e.min.z,r.distanceToPoint(Mp)<0)return!1}return!0}containsPoint(e){let t=this.planes;for(let n=0;n<6;n++)if(t[n].distanceToPoint(e)<0)return!1;return!0}clone(){return new this.constructor().copy(this)}},Pp=new fd,Fp=class e{constructor(){this.coordinateSystem=iu,this._frustums=[],this._count=0}setFromArrayCamera(e){let t=e.cameras,n=this._frustums;for(let e=0;e<t.length;e++){let r=t[e];Pp.multiplyMatrices(r.projectionMatrix,r.matrixWorldInverse),n[e]===void 0&&(n[e]=new Np),n[e].setFromProjectionMatrix(Pp,r.coordinateSystem,r.reversedDepth)}return this._count=t.length,this}getFrustum(e){return this._frustums[e]}intersectsObject(e){let t=this._frustums;for(let n=0;n<this._count;n++)if(t[n].intersectsObject(e))return!0;return!1}intersectsSprite(e){let t=this._frustums;for(let n=0;n<this._count;n++)if(t[n].intersectsSprite(e))return!0;return!1}intersectsSphere(e){let t=this._frustums;for(let n=0;n<this._count;n++)if(t[n].intersectsSphere(e))return!0;return!1}intersectsBox(e){let t=this._frustums;for(let n=0;n<this._count;n++)if(t[n].intersectsBox(e))return!0;return!1}containsPoint(e){let t=this._frustums;for(let n=0;n<this._count;n++)if(t[n].containsPoint(e))return!0;return!1}copy(e){this.coordinateSystem=e.coordinateSystem;let t=this._frustums,n=e._frustums;for(let r=0;r<e._count;r++)t[r]===void 0&&(t[r]=new Np),t[r].copy(n[r]);return this._count=e._count,this}clone(){return new e().copy(this)}},Ip=class extends $f{constructor(e){super(),this.isLineBasicMaterial=!0,this.type=`LineBasicMaterial`,this.color=new Z(16777215),this.map=null,this.linewidth=1,this.linecap=`round`,this.linejoin=`round`,this.fog=!0,this.setValues(e)}copy(e){return super.copy(e),this.color.copy(e.color),this.map=e.map,this.linewidth=e.linewidth,this.linecap=e.linecap,this.linejoin=e.linejoin,this.fog=e.fog,this}},Lp=new Y,Rp=new Y,zp=new fd,Bp=new ip,Vp=new Ff,Hp=new Y,Up=new Y,Wp=class extends zd{constructor(e=new Uf,t=new Ip){super(),this.isLine=!0,this.type=`Line`,this.geometry=e,this.material=t,this.morphTargetDictionary=void 0,this.morphTargetInfluences=void 0,this.updateMorphTargets()}copy(e,t){return super.copy(e,t),this.morphTargetInfluences=e.morphTargetInfluences===void 0?void 0:e.morphTargetInfluences.slice(),this.morphTargetDictionary=e.morphTargetDictionary===void 0?void 0:Object.assign({},e.morphTargetDictionary),this.material=Array.isArray(e.material)?e.material.slice():e.material,this.geometry=e.geometry,this}computeLineDistances(){let e=this.geometry;if(e.index===null){let t=e.attributes.position,n=[0];for(let e=1,r=t.count;e<r;e++)Lp.fromBufferAttribute(t,e-1),Rp.fromBufferAttribute(t,e),n[e]=n[e-1],n[e]+=Lp.distanceTo(Rp);e.setAttribute(`lineDistance`,new jf(n,1))}else G(`Line.computeLineDistances(): Computation only possible with non-indexed BufferGeometry.`);return this}intersectsFrustum(e){return e.intersectsObject(this)}raycast(e,t){let n=this.geometry,r=this.matrixWorld,i=e.params.Line.threshold,a=n.drawRange;if(n.boundingSphere===null&&n.computeBoundingSphere(),Vp.copy(n.boundingSphere),Vp.applyMatrix4(r),Vp.radius+=i,e.ray.intersectsSphere(Vp)===!1)return;zp.copy(r).invert(),Bp.copy(e.ray).applyMatrix4(zp);let o=i/((this.scale.x+this.scale.y+this.scale.z)/3),s=o*o,c=this.isLineSegments?2:1,l=n.index,u=n.attributes.position;if(l!==null){let n=Math.max(0,a.start),r=Math.min(l.count,a.start+a.count);for(let i=n,a=r-1;i<a;i+=c){let n=l.getX(i),r=l.getX(i+1),a=Gp(this,e,Bp,s,n,r,i);a&&t.push(a)}if(this.isLineLoop){let i=l.getX(r-1),a=l.getX(n),o=Gp(this,e,Bp,s,i,a,r-1);o&&t.push(o)}}else{let n=Math.max(0,a.start),r=Math.min(u.count,a.start+a.count);for(let i=n,a=r-1;i<a;i+=c){let n=Gp(this,e,Bp,s,i,i+1,i);n&&t.push(n)}if(this.isLineLoop){let i=Gp(this,e,Bp,s,r-1,n,r-1);i&&t.push(i)}}}updateMorphTargets(){let e=this.geometry.morphAttributes,t=Object.keys(e);if(t.length>0){let n=e[t[0]];if(n!==void 0){this.morphTargetInfluences=[],this.morphTargetDictionary={};for(let e=0,t=n.length;e<t;e++){let t=n[e].name||String(e);this.morphTargetInfluences.push(0),this.morphTargetDictionary[t]=e}}}}};function Gp(e,t,n,r,i,a,o){let s=e.geometry.attributes.position;if(Lp.fromBufferAttribute(s,i),Rp.fromBufferAttribute(s,a),n.distanceSqToSegment(Lp,Rp,Hp,Up)>r)return;Hp.applyMatrix4(e.matrixWorld);let c=t.ray.origin.distanceTo(Hp);if(!(c<t.near||c>t.far))return{distance:c,point:Up.clone().applyMatrix4(e.matrixWorld),index:o,face:null,faceIndex:null,barycoord:null,object:e}}var Kp=new Y,qp=new Y,Jp=class extends Wp{constructor(e,t){super(e,t),this.isLineSegments=!0,this.type=`LineSegments`}computeLineDistances(){let e=this.geometry;if(e.index===null){let t=e.attributes.position,n=[];for(let e=0,r=t.count;e<r;e+=2)Kp.fromBufferAttribute(t,e),qp.fromBufferAttribute(t,e+1),n[e]=e===0?0:n[e-1],n[e+1]=n[e]+Kp.distanceTo(qp);e.setAttribute(`lineDistance`,new jf(n,1))}else G(`LineSegments.computeLineDistances(): Computation only possible with non-indexed BufferGeometry.`);return this}},Yp=class extends od{constructor(e=[],t=301,n,r,i,a,o,s,c,l){super(e,t,n,r,i,a,o,s,c,l),this.isCubeTexture=!0,this.flipY=!1}get images(){return this.image}set images(e){this.image=e}},Xp=class extends od{constructor(e,t,n=Wc,r,i,a,o=Nc,s=Nc,c,l=tl,u=1){if(l!==1026&&l!==1027)throw Error(`THREE.DepthTexture: format must be either THREE.DepthFormat or THREE.DepthStencilFormat`);super({width:e,height:t,depth:u},r,i,a,o,s,l,n,c),this.isDepthTexture=!0,this.flipY=!1,this.generateMipmaps=!1,this.compareFunction=null}copy(e){return super.copy(e),this.source=new nd(Object.assign({},e.image)),this.compareFunction=e.compareFunction,this}toJSON(e){let t=super.toJSON(e);return t.compareFunction=this.compareFunction,t}},Zp=class extends Xp{constructor(e,t=Wc,n=301,r,i,a=Nc,o=Nc,s,c=tl){let l={width:e,height:e,depth:1},u=[l,l,l,l,l,l];super(e,e,t,n,r,i,a,o,s,c),this.image=u,this.isCubeDepthTexture=!0,this.isCubeTexture=!0}get images(){return this.image}set images(e){this.image=e}},Qp=class extends od{constructor(e=null){super(),this.sourceTexture=e,this.isExternalTexture=!0}copy(e){return super.copy(e),this.sourceTexture=e.sourceTexture,this}},$p=class e extends Uf{constructor(e=1,t=1,n=1,r=1,i=1,a=1){super(),this.type=`BoxGeometry`,this.parameters={width:e,height:t,depth:n,widthSegments:r,heightSegments:i,depthSegments:a};let o=this;r=Math.floor(r),i=Math.floor(i),a=Math.floor(a);let s=[],c=[],l=[],u=[],d=0,f=0;p(`z`,`y`,`x`,-1,-1,n,t,e,a,i,0),p(`z`,`y`,`x`,1,-1,n,t,-e,a,i,1),p(`x`,`z`,`y`,1,1,e,n,t,r,a,2),p(`x`,`z`,`y`,1,-1,e,n,-t,r,a,3),p(`x`,`y`,`z`,1,-1,e,t,n,r,i,4),p(`x`,`y`,`z`,-1,-1,e,t,-n,r,i,5),this.setIndex(s),this.setAttribute(`position`,new jf(c,3)),this.setAttribute(`normal`,new jf(l,3)),this.setAttribute(`uv`,new jf(u,2));function p(e,t,n,r,i,a,p,m,h,g,_){let v=a/h,y=p/g,b=a/2,x=p/2,S=m/2,C=h+1,w=g+1,T=0,E=0,D=new Y;for(let a=0;a<w;a++){let o=a*y-x;for(let s=0;s<C;s++)D[e]=(s*v-b)*r,D[t]=o*i,D[n]=S,c.push(D.x,D.y,D.z),D[e]=0,D[t]=0,D[n]=m>0?1:-1,l.push(D.x,D.y,D.z),u.push(s/h),u.push(1-a/g),T+=1}for(let e=0;e<g;e++)for(let t=0;t<h;t++){let n=d+t+C*e,r=d+t+C*(e+1),i=d+(t+1)+C*(e+1),a=d+(t+1)+C*e;s.push(n,r,a),s.push(r,i,a),E+=6}o.addGroup(f,E,_),f+=E,d+=T}}copy(e){return super.copy(e),this.parameters=Object.assign({},e.parameters),this}static fromJSON(t){return new e(t.width,t.height,t.depth,t.widthSegments,t.heightSegments,t.depthSegments)}},em=class e extends Uf{constructor(e=1,t=1,n=1,r=32,i=1,a=!1,o=0,s=Math.PI*2){super(),this.type=`CylinderGeometry`,this.parameters={radiusTop:e,radiusBottom:t,height:n,radialSegments:r,heightSegments:i,openEnded:a,thetaStart:o,thetaLength:s};let c=this;r=Math.floor(r),i=Math.floor(i);let l=[],u=[],d=[],f=[],p=0,m=[],h=n/2,g=0;_(),a===!1&&(e>0&&v(!0),t>0&&v(!1)),this.setIndex(l),this.setAttribute(`position`,new jf(u,3)),this.setAttribute(`normal`,new jf(d,3)),this.setAttribute(`uv`,new jf(f,2));function _(){let a=new Y,_=new Y,v=0,y=(t-e)/n;for(let c=0;c<=i;c++){let l=[],g=c/i,v=g*(t-e)+e;for(let e=0;e<=r;e++){let t=e/r,i=t*s+o,c=Math.sin(i),m=Math.cos(i);_.x=v*c,_.y=-g*n+h,_.z=v*m,u.push(_.x,_.y,_.z),a.set(c,y,m).normalize(),d.push(a.x,a.y,a.z),f.push(t,1-g),l.push(p++)}m.push(l)}for(let n=0;n<r;n++)for(let r=0;r<i;r++){let a=m[r][n],o=m[r+1][n],s=m[r+1][n+1],c=m[r][n+1];(e>0||r!==0)&&(l.push(a,o,c),v+=3),(t>0||r!==i-1)&&(l.push(o,s,c),v+=3)}c.addGroup(g,v,0),g+=v}function v(n){let i=p,a=new J,m=new Y,_=0,v=n===!0?e:t,y=n===!0?1:-1;for(let e=1;e<=r;e++)u.push(0,h*y,0),d.push(0,y,0),f.push(.5,.5),p++;let b=p;for(let e=0;e<=r;e++){let t=e/r*s+o,n=Math.cos(t),i=Math.sin(t);m.x=v*i,m.y=h*y,m.z=v*n,u.push(m.x,m.y,m.z),d.push(0,y,0),a.x=n*.5+.5,a.y=i*.5*y+.5,f.push(a.x,a.y),p++}for(let e=0;e<r;e++){let t=i+e,r=b+e;n===!0?l.push(r,r+1,t):l.push(r+1,r,t),_+=3}c.addGroup(g,_,n===!0?1:2),g+=_}}copy(e){return super.copy(e),this.parameters=Object.assign({},e.parameters),this}static fromJSON(t){return new e(t.radiusTop,t.radiusBottom,t.height,t.radialSegments,t.heightSegments,t.openEnded,t.thetaStart,t.thetaLength)}},tm=class e extends Uf{constructor(e=[],t=[],n=1,r=0){super(),this.type=`PolyhedronGeometry`,this.parameters={vertices:e,indices:t,radius:n,detail:r};let i=[],a=[];o(r),c(n),l(),this.setAttribute(`position`,new jf(i,3)),this.setAttribute(`normal`,new jf(i.slice(),3)),this.setAttribute(`uv`,new jf(a,2)),r===0?this.computeVertexNormals():this.normalizeNormals();function o(e){let n=new Y,r=new Y,i=new Y;for(let a=0;a<t.length;a+=3)f(t[a+0],n),f(t[a+1],r),f(t[a+2],i),s(n,r,i,e)}function s(e,t,n,r){let i=r+1,a=[];for(let r=0;r<=i;r++){a[r]=[];let o=e.clone().lerp(n,r/i),s=t.clone().lerp(n,r/i),c=i-r;for(let e=0;e<=c;e++)e===0&&r===i?a[r][e]=o:a[r][e]=o.clone().lerp(s,e/c)}for(let e=0;e<i;e++)for(let t=0;t<2*(i-e)-1;t++){let n=Math.floor(t/2);t%2==0?(d(a[e][n+1]),d(a[e+1][n]),d(a[e][n])):(d(a[e][n+1]),d(a[e+1][n+1]),d(a[e+1][n]))}}function c(e){let t=new Y;for(let n=0;n<i.length;n+=3)t.x=i[n+0],t.y=i[n+1],t.z=i[n+2],t.normalize().multiplyScalar(e),i[n+0]=t.x,i[n+1]=t.y,i[n+2]=t.z}function l(){let e=new Y;for(let t=0;t<i.length;t+=3){e.x=i[t+0],e.y=i[t+1],e.z=i[t+2];let n=h(e)/2/Math.PI+.5,r=g(e)/Math.PI+.5;a.push(n,1-r)}p(),u()}function u(){for(let e=0;e<a.length;e+=6){let t=a[e+0],n=a[e+2],r=a[e+4];Math.max(t,n,r)>.9&&Math.min(t,n,r)<.1&&(t<.2&&(a[e+0]+=1),n<.2&&(a[e+2]+=1),r<.2&&(a[e+4]+=1))}}function d(e){i.push(e.x,e.y,e.z)}function f(t,n){let r=t*3;n.x=e[r+0],n.y=e[r+1],n.z=e[r+2]}function p(){let e=new Y,t=new Y,n=new Y,r=new Y,o=new J,s=new J,c=new J;for(let l=0,u=0;l<i.length;l+=9,u+=6){e.set(i[l+0],i[l+1],i[l+2]),t.set(i[l+3],i[l+4],i[l+5]),n.set(i[l+6],i[l+7],i[l+8]),o.set(a[u+0],a[u+1]),s.set(a[u+2],a[u+3]),c.set(a[u+4],a[u+5]),r.copy(e).add(t).add(n).divideScalar(3);let d=h(r);m(o,u+0,e,d),m(s,u+2,t,d),m(c,u+4,n,d)}}function m(e,t,n,r){r<0&&e.x===1&&(a[t]=e.x-1),n.x===0&&n.z===0&&(a[t]=r/2/Math.PI+.5)}function h(e){return Math.atan2(e.z,-e.x)}function g(e){return Math.atan2(-e.y,Math.sqrt(e.x*e.x+e.z*e.z))}}copy(e){return super.copy(e),this.parameters=Object.assign({},e.parameters),this}static fromJSON(t){return new e(t.vertices,t.indices,t.radius,t.detail)}},nm=new Y,rm=new Y,im=new Y,am=new lf,om=class extends Uf{constructor(e=null,t=1){if(super(),this.type=`EdgesGeometry`,this.parameters={geometry:e,thresholdAngle:t},e!==null){let n=1e4,r=Math.cos(vu*t),i=e.getIndex(),a=e.getAttribute(`position`),o=i?i.count:a.count,s=[0,0,0],c=[`a`,`b`,`c`],l=[,,,],u=new Map,d=[];for(let e=0;e<o;e+=3){i?(s[0]=i.getX(e),s[1]=i.getX(e+1),s[2]=i.getX(e+2)):(s[0]=e,s[1]=e+1,s[2]=e+2);let{a:t,b:o,c:f}=am;if(t.fromBufferAttribute(a,s[0]),o.fromBufferAttribute(a,s[1]),f.fromBufferAttribute(a,s[2]),am.getNormal(im),l[0]=`${Math.round(t.x*n)},${Math.round(t.y*n)},${Math.round(t.z*n)}`,l[1]=`${Math.round(o.x*n)},${Math.round(o.y*n)},${Math.round(o.z*n)}`,l[2]=`${Math.round(f.x*n)},${Math.round(f.y*n)},${Math.round(f.z*n)}`,l[0]!==l[1]&&l[1]!==l[2]&&l[2]!==l[0])for(let e=0;e<3;e++){let t=(e+1)%3,n=l[e],i=l[t],a=am[c[e]],o=am[c[t]],f=`${n}_${i}`,p=`${i}_${n}`,m=u.get(p);m?(im.dot(m.normal)<=r&&(d.push(a.x,a.y,a.z),d.push(o.x,o.y,o.z)),u.set(p,null)):u.has(f)||u.set(f,{index0:s[e],index1:s[t],normal:im.clone()})}}for(let e of u.values())if(e){let{index0:t,index1:n}=e;nm.fromBufferAttribute(a,t),rm.fromBufferAttribute(a,n),d.push(nm.x,nm.y,nm.z),d.push(rm.x,rm.y,rm.z)}this.setAttribute(`position`,new jf(d,3))}}copy(e){return super.copy(e),this.parameters=Object.assign({},e.parameters),this}},sm=class e extends Uf{constructor(e=[new J(0,-.5),new J(.5,0),new J(0,.5)],t=12,n=0,r=Math.PI*2){super(),this.type=`LatheGeometry`,this.parameters={points:e,segments:t,phiStart:n,phiLength:r},t=Math.floor(t),r=q(r,0,Math.PI*2);let i=[],a=[],o=[],s=[],c=[],l=1/t,u=new Y,d=new J,f=new Y,p=new Y,m=new Y,h=0,g=0;for(let t=0;t<=e.length-1;t++)switch(t){case 0:h=e[t+1].x-e[t].x,g=e[t+1].y-e[t].y,f.x=g*1,f.y=-h,f.z=g*0,m.copy(f),f.normalize(),s.push(f.x,f.y,f.z);break;case e.length-1:m.normalize(),s.push(m.x,m.y,m.z);break;default:h=e[t+1].x-e[t].x,g=e[t+1].y-e[t].y,f.x=g*1,f.y=-h,f.z=g*0,p.copy(f),f.x+=m.x,f.y+=m.y,f.z+=m.z,f.normalize(),s.push(f.x,f.y,f.z),m.copy(p)}for(let i=0;i<=t;i++){let f=n+i*l*r,p=Math.sin(f),m=Math.cos(f);for(let n=0;n<=e.length-1;n++){u.x=e[n].x*p,u.y=e[n].y,u.z=e[n].x*m,a.push(u.x,u.y,u.z),d.x=i/t,d.y=n/(e.length-1),o.push(d.x,d.y);let r=s[3*n+0]*p,l=s[3*n+1],f=s[3*n+0]*m;c.push(r,l,f)}}for(let n=0;n<t;n++)for(let t=0;t<e.length-1;t++){let r=t+n*e.length,a=r,o=r+e.length,s=r+e.length+1,c=r+1;i.push(a,o,c),i.push(s,c,o)}this.setIndex(i),this.setAttribute(`position`,new jf(a,3)),this.setAttribute(`uv`,new jf(o,2)),this.setAttribute(`normal`,new jf(c,3))}copy(e){return super.copy(e),this.parameters=Object.assign({},e.parameters),this}static fromJSON(t){return new e(t.points,t.segments,t.phiStart,t.phiLength)}},cm=class e extends tm{constructor(e=1,t=0){super([1,0,0,-1,0,0,0,1,0,0,-1,0,0,0,1,0,0,-1],[0,2,4,0,4,3,0,3,5,0,5,2,1,2,5,1,5,3,1,3,4,1,4,2],e,t),this.type=`OctahedronGeometry`,this.parameters={radius:e,detail:t}}static fromJSON(t){return new e(t.radius,t.detail)}},lm=class e extends Uf{constructor(e=1,t=1,n=1,r=1){super(),this.type=`PlaneGeometry`,this.parameters={width:e,height:t,widthSegments:n,heightSegments:r};let i=e/2,a=t/2,o=Math.floor(n),s=Math.floor(r),c=o+1,l=s+1,u=e/o,d=t/s,f=[],p=[],m=[],h=[];for(let e=0;e<l;e++){let t=e*d-a;for(let n=0;n<c;n++){let r=n*u-i;p.push(r,-t,0),m.push(0,0,1),h.push(n/o),h.push(1-e/s)}}for(let e=0;e<s;e++)for(let t=0;t<o;t++){let n=t+c*e,r=t+c*(e+1),i=t+1+c*(e+1),a=t+1+c*e;f.push(n,r,a),f.push(r,i,a)}this.setIndex(f),this.setAttribute(`position`,new jf(p,3)),this.setAttribute(`normal`,new jf(m,3)),this.setAttribute(`uv`,new jf(h,2))}copy(e){return super.copy(e),this.parameters=Object.assign({},e.parameters),this}static fromJSON(t){return new e(t.width,t.height,t.widthSegments,t.heightSegments)}},um=class e extends Uf{constructor(e=1,t=32,n=16,r=0,i=Math.PI*2,a=0,o=Math.PI){super(),this.type=`SphereGeometry`,this.parameters={radius:e,widthSegments:t,heightSegments:n,phiStart:r,phiLength:i,thetaStart:a,thetaLength:o},t=Math.max(3,Math.floor(t)),n=Math.max(2,Math.floor(n));let s=Math.min(a+o,Math.PI),c=0,l=[],u=new Y,d=new Y,f=[],p=[],m=[],h=[];for(let f=0;f<=n;f++){let g=[],_=f/n,v=a+_*o,y=e*Math.cos(v),b=Math.sqrt(e*e-y*y),x=0;f===0&&a===0?x=.5/t:f===n&&s===Math.PI&&(x=-.5/t);for(let e=0;e<=t;e++){let n=e/t,a=r+n*i;u.x=-b*Math.cos(a),u.y=y,u.z=b*Math.sin(a),p.push(u.x,u.y,u.z),d.copy(u).normalize(),m.push(d.x,d.y,d.z),h.push(n+x,1-_),g.push(c++)}l.push(g)}for(let e=0;e<n;e++)for(let r=0;r<t;r++){let t=l[e][r+1],i=l[e][r],o=l[e+1][r],c=l[e+1][r+1];(e!==0||a>0)&&f.push(t,i,c),(e!==n-1||s<Math.PI)&&f.push(i,o,c)}this.setIndex(f),this.setAttribute(`position`,new jf(p,3)),this.setAttribute(`normal`,new jf(m,3)),this.setAttribute(`uv`,new jf(h,2))}copy(e){return super.copy(e),this.parameters=Object.assign({},e.parameters),this}static fromJSON(t){return new e(t.radius,t.widthSegments,t.heightSegments,t.phiStart,t.phiLength,t.thetaStart,t.thetaLength)}},dm=class e extends Uf{constructor(e=1,t=.4,n=12,r=48,i=Math.PI*2,a=0,o=Math.PI*2){super(),this.type=`TorusGeometry`,this.parameters={radius:e,tube:t,radialSegments:n,tubularSegments:r,arc:i,thetaStart:a,thetaLength:o},n=Math.floor(n),r=Math.floor(r);let s=[],c=[],l=[],u=[],d=new Y,f=new Y,p=new Y;for(let s=0;s<=n;s++){let m=a+s/n*o;for(let a=0;a<=r;a++){let o=a/r*i;f.x=(e+t*Math.cos(m))*Math.cos(o),f.y=(e+t*Math.cos(m))*Math.sin(o),f.z=t*Math.sin(m),c.push(f.x,f.y,f.z),d.x=e*Math.cos(o),d.y=e*Math.sin(o),p.subVectors(f,d).normalize(),l.push(p.x,p.y,p.z),u.push(a/r),u.push(s/n)}}for(let e=1;e<=n;e++)for(let t=1;t<=r;t++){let n=(r+1)*e+t-1,i=(r+1)*(e-1)+t-1,a=(r+1)*(e-1)+t,o=(r+1)*e+t;s.push(n,i,o),s.push(i,a,o)}this.setIndex(s),this.setAttribute(`position`,new jf(c,3)),this.setAttribute(`normal`,new jf(l,3)),this.setAttribute(`uv`,new jf(u,2))}copy(e){return super.copy(e),this.parameters=Object.assign({},e.parameters),this}static fromJSON(t){return new e(t.radius,t.tube,t.radialSegments,t.tubularSegments,t.arc,t.thetaStart,t.thetaLength)}},fm=class extends Uf{constructor(e=null){if(super(),this.type=`WireframeGeometry`,this.parameters={geometry:e},e!==null){let t=[],n=new Set,r=new Y,i=new Y;if(e.index!==null){let a=e.attributes.position,o=e.index,s=e.groups;s.length===0&&(s=[{start:0,count:o.count,materialIndex:0}]);for(let e=0,c=s.length;e<c;++e){let c=s[e],l=c.start,u=c.count;for(let e=l,s=l+u;e<s;e+=3)for(let s=0;s<3;s++){let c=o.getX(e+s),l=o.getX(e+(s+1)%3);r.fromBufferAttribute(a,c),i.fromBufferAttribute(a,l),pm(r,i,n)===!0&&(t.push(r.x,r.y,r.z),t.push(i.x,i.y,i.z))}}}else{let a=e.attributes.position;for(let e=0,o=a.count/3;e<o;e++)for(let o=0;o<3;o++){let s=3*e+o,c=3*e+(o+1)%3;r.fromBufferAttribute(a,s),i.fromBufferAttribute(a,c),pm(r,i,n)===!0&&(t.push(r.x,r.y,r.z),t.push(i.x,i.y,i.z))}}this.setAttribute(`position`,new jf(t,3))}}copy(e){return super.copy(e),this.parameters=Object.assign({},e.parameters),this}};function pm(e,t,n){let r=`${e.x},${e.y},${e.z}-${t.x},${t.y},${t.z}`,i=`${t.x},${t.y},${t.z}-${e.x},${e.y},${e.z}`;return n.has(r)===!0||n.has(i)===!0?!1:(n.add(r),n.add(i),!0)}function mm(e){let t={};for(let n in e){t[n]={};for(let r in e[n]){let i=e[n][r];if(gm(i))i.isRenderTargetTexture?(G(`UniformsUtils: Textures of render targets cannot be cloned via cloneUniforms() or mergeUniforms().`),t[n][r]=null):t[n][r]=i.clone();else if(Array.isArray(i)){if(gm(i[0])){let e=[];for(let t=0,n=i.length;t<n;t++)e[t]=i[t].clone();t[n][r]=e}else t[n][r]=i.slice()}else t[n][r]=i}}return t}function hm(e){let t={};for(let n=0;n<e.length;n++){let r=mm(e[n]);for(let e in r)t[e]=r[e]}return t}function gm(e){return e&&(e.isColor||e.isMatrix3||e.isMatrix4||e.isVector2||e.isVector3||e.isVector4||e.isTexture||e.isQuaternion)}function _m(e){let t=[];for(let n=0;n<e.length;n++)t.push(e[n].clone());return t}function vm(e){let t=e.getRenderTarget();return t===null?e.outputColorSpace:t.isXRRenderTarget===!0?t.texture.colorSpace:Xu.workingColorSpace}var ym={clone:mm,merge:hm},bm=`void main() {
	gl_Position = projectionMatrix * modelViewMatrix * vec4( position, 1.0 );
}`,xm=`void main() {
	gl_FragColor = vec4( 1.0, 0.0, 0.0, 1.0 );
}`,Sm=class extends $f{constructor(e){super(),this.isShaderMaterial=!0,this.type=`ShaderMaterial`,this.defines={},this.uniforms={},this.uniformsGroups=[],this.vertexShader=bm,this.fragmentShader=xm,this.linewidth=1,this.wireframe=!1,this.wireframeLinewidth=1,this.fog=!1,this.lights=!1,this.clipping=!1,this.forceSinglePass=!0,this.extensions={clipCullDistance:!1,multiDraw:!1},this.defaultAttributeValues={color:[1,1,1],uv:[0,0],uv1:[0,0]},this.index0AttributeName=void 0,this.uniformsNeedUpdate=!1,this.glslVersion=null,e!==void 0&&this.setValues(e)}copy(e){return super.copy(e),this.fragmentShader=e.fragmentShader,this.vertexShader=e.vertexShader,this.uniforms=mm(e.uniforms),this.uniformsGroups=_m(e.uniformsGroups),this.defines=Object.assign({},e.defines),this.wireframe=e.wireframe,this.wireframeLinewidth=e.wireframeLinewidth,this.fog=e.fog,this.lights=e.lights,this.clipping=e.clipping,this.extensions=Object.assign({},e.extensions),this.glslVersion=e.glslVersion,this.defaultAttributeValues=Object.assign({},e.defaultAttributeValues),this.index0AttributeName=e.index0AttributeName,this.uniformsNeedUpdate=e.uniformsNeedUpdate,this}toJSON(e){let t=super.toJSON(e);t.glslVersion=this.glslVersion,t.uniforms={};for(let n in this.uniforms){let r=this.uniforms[n].value;r&&r.isTexture?t.uniforms[n]={type:`t`,value:r.toJSON(e).uuid}:r&&r.isColor?t.uniforms[n]={type:`c`,value:r.getHex()}:r&&r.isVector2?t.uniforms[n]={type:`v2`,value:r.toArray()}:r&&r.isVector3?t.uniforms[n]={type:`v3`,value:r.toArray()}:r&&r.isVector4?t.uniforms[n]={type:`v4`,value:r.toArray()}:r&&r.isMatrix3?t.uniforms[n]={type:`m3`,value:r.toArray()}:r&&r.isMatrix4?t.uniforms[n]={type:`m4`,value:r.toArray()}:t.uniforms[n]={value:r}}Object.keys(this.defines).length>0&&(t.defines=this.defines),t.vertexShader=this.vertexShader,t.fragmentShader=this.fragmentShader,t.lights=this.lights,t.clipping=this.clipping;let n={};for(let e in this.extensions)this.extensions[e]===!0&&(n[e]=!0);return Object.keys(n).length>0&&(t.extensions=n),t}fromJSON(e,t){if(super.fromJSON(e,t),e.uniforms!==void 0)for(let n in e.uniforms){let r=e.uniforms[n];switch(this.uniforms[n]={},r.type){case`t`:this.uniforms[n].value=t[r.value]||null;break;case`c`:this.uniforms[n].value=new Z().setHex(r.value);break;case`v2`:this.uniforms[n].value=new J().fromArray(r.value);break;case`v3`:this.uniforms[n].value=new Y().fromArray(r.value);break;case`v4`:this.uniforms[n].value=new sd().fromArray(r.value);break;case`m3`:this.uniforms[n].value=new X().fromArray(r.value);break;case`m4`:this.uniforms[n].value=new fd().fromArray(r.value);break;default:this.uniforms[n].value=r.value}}if(e.defines!==void 0&&(this.defines=e.defines),e.vertexShader!==void 0&&(this.vertexShader=e.vertexShader),e.fragmentShader!==void 0&&(this.fragmentShader=e.fragmentShader),e.glslVersion!==void 0&&(this.glslVersion=e.glslVersion),e.extensions!==void 0)for(let t in e.extensions)this.extensions[t]=e.extensions[t];return e.lights!==void 0&&(this.lights=e.lights),e.clipping!==void 0&&(this.clipping=e.clipping),this}},Cm=class extends Sm{constructor(e){super(e),this.isRawShaderMaterial=!0,this.type=`RawShaderMaterial`}},wm=class extends $f{constructor(e){super(),this.isMeshLambertMaterial=!0,this.type=`MeshLambertMaterial`,this.color=new Z(16777215),this.map=null,this.lightMap=null,this.lightMapIntensity=1,this.aoMap=null,this.aoMapIntensity=1,this.emissive=new Z(0),this.emissiveIntensity=1,this.emissiveMap=null,this.bumpMap=null,this.bumpScale=1,this.normalMap=null,this.normalMapType=0,this.normalScale=new J(1,1),this.displacementMap=null,this.displacementScale=1,this.displacementBias=0,this.specularMap=null,this.alphaMap=null,this.envMap=null,this.envMapRotation=new Sd,this.combine=0,this.reflectivity=1,this.envMapIntensity=1,this.refractionRatio=.98,this.wireframe=!1,this.wireframeLinewidth=1,this.wireframeLinecap=`round`,this.wireframeLinejoin=`round`,this.flatShading=!1,this.fog=!0,this.setValues(e)}copy(e){return super.copy(e),this.color.copy(e.color),this.map=e.map,this.lightMap=e.lightMap,this.lightMapIntensity=e.lightMapIntensity,this.aoMap=e.aoMap,this.aoMapIntensity=e.aoMapIntensity,this.emissive.copy(e.emissive),this.emissiveMap=e.emissiveMap,this.emissiveIntensity=e.emissiveIntensity,this.bumpMap=e.bumpMap,this.bumpScale=e.bumpScale,this.normalMap=e.normalMap,this.normalMapType=e.normalMapType,this.normalScale.copy(e.normalScale),this.displacementMap=e.displacementMap,this.displacementScale=e.displacementScale,this.displacementBias=e.displacementBias,this.specularMap=e.specularMap,this.alphaMap=e.alphaMap,this.envMap=e.envMap,this.envMapRotation.copy(e.envMapRotation),this.combine=e.combine,this.reflectivity=e.reflectivity,this.envMapIntensity=e.envMapIntensity,this.refractionRatio=e.refractionRatio,this.wireframe=e.wireframe,this.wireframeLinewidth=e.wireframeLinewidth,this.wireframeLinecap=e.wireframeLinecap,this.wireframeLinejoin=e.wireframeLinejoin,this.flatShading=e.flatShading,this.fog=e.fog,this}},Tm=class extends $f{constructor(e){super(),this.isMeshDepthMaterial=!0,this.type=`MeshDepthMaterial`,this.depthPacking=Zl,this.map=null,this.alphaMap=null,this.displacementMap=null,this.displacementScale=1,this.displacementBias=0,this.wireframe=!1,this.wireframeLinewidth=1,this.setValues(e)}copy(e){return super.copy(e),this.depthPacking=e.depthPacking,this.map=e.map,this.alphaMap=e.alphaMap,this.displacementMap=e.displacementMap,this.displacementScale=e.displacementScale,this.displacementBias=e.displacementBias,this.wireframe=e.wireframe,this.wireframeLinewidth=e.wireframeLinewidth,this}},Em=class extends $f{constructor(e){super(),this.isMeshDistanceMaterial=!0,this.type=`MeshDistanceMaterial`,this.map=null,this.alphaMap=null,this.displacementMap=null,this.displacementScale=1,this.displacementBias=0,this.setValues(e)}copy(e){return super.copy(e),this.map=e.map,this.alphaMap=e.alphaMap,this.displacementMap=e.displacementMap,this.displacementScale=e.displacementScale,this.displacementBias=e.displacementBias,this}},Dm=class extends Ip{constructor(e){super(),this.isLineDashedMaterial=!0,this.type=`LineDashedMaterial`,this.scale=1,this.dashSize=3,this.gapSize=1,this.setValues(e)}copy(e){return super.copy(e),this.scale=e.scale,this.dashSize=e.dashSize,this.gapSize=e.gapSize,this}};function Om(e,t){return!e||e.constructor===t?e:typeof t.BYTES_PER_ELEMENT==`number`?new t(e):Array.prototype.slice.call(e)}function km(e){return e!==void 0&&e.inTangents!==void 0&&e.outTangents!==void 0}var Am=class{constructor(e,t,n,r){this.parameterPositions=e,this._cachedIndex=0,this.resultBuffer=r===void 0?new t.constructor(n):r,this.sampleValues=t,this.valueSize=n,this.settings=null,this.DefaultSettings_={}}evaluate(e){let t=this.parameterPositions,n=this._cachedIndex,r=t[n],i=t[n-1];validate_interval:{seek:{let a;linear_scan:{forward_scan:if(!(e<r)){for(let a=n+2;;){if(r===void 0){if(e<i)break forward_scan;return n=t.length,this._cachedIndex=n,this.copySampleValue_(n-1)}if(n===a)break;if(i=r,r=t[++n],e<r)break seek}a=t.length;break linear_scan}if(!(e>=i)){let o=t[1];e<o&&(n=2,i=o);for(let a=n-2;;){if(i===void 0)return this._cachedIndex=0,this.copySampleValue_(0);if(n===a)break;if(r=i,i=t[--n-1],e>=i)break seek}a=n,n=0;break linear_scan}break validate_interval}for(;n<a;){let r=n+a>>>1;e<t[r]?a=r:n=r+1}if(r=t[n],i=t[n-1],i===void 0)return this._cachedIndex=0,this.copySampleValue_(0);if(r===void 0)return n=t.length,this._cachedIndex=n,this.copySampleValue_(n-1)}this._cachedIndex=n,this.intervalChanged_(n,i,r)}return this.interpolate_(n,i,e,r)}getSettings_(){return this.settings||this.DefaultSettings_}copySampleValue_(e){let t=this.resultBuffer,n=this.sampleValues,r=this.valueSize,i=e*r;for(let e=0;e!==r;++e)t[e]=n[i+e];return t}interpolate_(){throw Error(`THREE.Interpolant: Call to abstract method.`)}intervalChanged_(){}},jm=class extends Am{constructor(e,t,n,r){super(e,t,n,r),this._weightPrev=-0,this._offsetPrev=-0,this._weightNext=-0,this._offsetNext=-0,this.DefaultSettings_={endingStart:Jl,endingEnd:Jl}}intervalChanged_(e,t,n){let r=this.parameterPositions,i=e-2,a=e+1,o=r[i],s=r[a];if(o===void 0)switch(this.getSettings_().endingStart){case Yl:i=e,o=2*t-n;break;case Xl:i=r.length-2,o=t+r[i]-r[i+1];break;default:i=e,o=n}if(s===void 0)switch(this.getSettings_().endingEnd){case Yl:a=e,s=2*n-t;break;case Xl:a=1,s=n+r[1]-r[0];break;default:a=e-1,s=t}let c=(n-t)*.5,l=this.valueSize;this._weightPrev=c/(t-o),this._weightNext=c/(s-n),this._offsetPrev=i*l,this._offsetNext=a*l}interpolate_(e,t,n,r){let i=this.resultBuffer,a=this.sampleValues,o=this.valueSize,s=e*o,c=s-o,l=this._offsetPrev,u=this._offsetNext,d=this._weightPrev,f=this._weightNext,p=(n-t)/(r-t),m=p*p,h=m*p,g=-d*h+2*d*m-d*p,_=(1+d)*h+(-1.5-2*d)*m+(-.5+d)*p+1,v=(-1-f)*h+(1.5+f)*m+.5*p,y=f*h-f*m;for(let e=0;e!==o;++e)i[e]=g*a[l+e]+_*a[c+e]+v*a[s+e]+y*a[u+e];return i}},Mm=class extends Am{constructor(e,t,n,r){super(e,t,n,r)}interpolate_(e,t,n,r){let i=this.resultBuffer,a=this.sampleValues,o=this.valueSize,s=e*o,c=s-o,l=(n-t)/(r-t),u=1-l;for(let e=0;e!==o;++e)i[e]=a[c+e]*u+a[s+e]*l;return i}},Nm=class extends Am{constructor(e,t,n,r){super(e,t,n,r)}interpolate_(e){return this.copySampleValue_(e-1)}},Pm=class extends Am{interpolate_(e,t,n,r){let i=this.resultBuffer,a=this.sampleValues,o=this.valueSize,s=e*o,c=s-o,l=this.inTangents,u=this.outTangents;if(!l||!u){let e=(n-t)/(r-t),l=1-e;for(let t=0;t!==o;++t)i[t]=a[c+t]*l+a[s+t]*e;return i}let d=o*2,f=e-1;for(let p=0;p!==o;++p){let o=a[c+p],m=a[s+p],h=f*d+p*2,g=u[h],_=u[h+1],v=e*d+p*2,y=l[v],b=l[v+1],x=Lm(n,t,g,y,r);i[p]=Fm(x,o,_,b,m)}return i}};function Fm(e,t,n,r,i){let a=1-e;return a*a*a*t+3*a*a*e*n+3*a*e*e*r+e*e*e*i}function Im(e,t,n,r,i){let a=1-e;return 3*a*a*(n-t)+6*a*e*(r-n)+3*e*e*(i-r)}function Lm(e,t,n,r,i){let a=(e-t)/(i-t);for(let o=0;o<8;o++){let o=Fm(a,t,n,r,i)-e;if(Math.abs(o)<1e-10)break;let s=Im(a,t,n,r,i);if(Math.abs(s)<1e-10)break;a=Math.max(0,Math.min(1,a-o/s))}return a}var Rm=class{constructor(e,t,n,r){if(e===void 0)throw Error(`THREE.KeyframeTrack: track name is undefined`);if(t===void 0||t.length===0)throw Error(`THREE.KeyframeTrack: no keyframes in track named `+e);this.name=e,this.times=Om(t,this.TimeBufferType),this.values=Om(n,this.ValueBufferType),this.setInterpolation(r||this.DefaultInterpolation)}static toJSON(e){let t=e.constructor,n;if(t.toJSON!==this.toJSON)n=t.toJSON(e);else{n={name:e.name,times:Om(e.times,Array),values:Om(e.values,Array)};let t=e.getInterpolation();t!==e.DefaultInterpolation&&(n.interpolation=t),km(e.settings)&&(n.settings={inTangents:Om(e.settings.inTangents,Array),outTangents:Om(e.settings.outTangents,Array)})}return n.type=e.ValueTypeName,n}InterpolantFactoryMethodDiscrete(e){return new Nm(this.times,this.values,this.getValueSize(),e)}InterpolantFactoryMethodLinear(e){return new Mm(this.times,this.values,this.getValueSize(),e)}InterpolantFactoryMethodSmooth(e){return new jm(this.times,this.values,this.getValueSize(),e)}InterpolantFactoryMethodBezier(e){let t=new Pm(this.times,this.values,this.getValueSize(),e);return this.settings&&(t.inTangents=this.settings.inTangents,t.outTangents=this.settings.outTangents),t}setInterpolation(e){let t;switch(e){case Wl:t=this.InterpolantFactoryMethodDiscrete;break;case Gl:t=this.InterpolantFactoryMethodLinear;break;case Kl:t=this.InterpolantFactoryMethodSmooth;break;case ql:t=this.InterpolantFactoryMethodBezier}if(t===void 0){let t=`unsupported interpolation for `+this.ValueTypeName+` keyframe track named `+this.name;if(this.createInterpolant===void 0){if(e!==this.DefaultInterpolation)this.setInterpolation(this.DefaultInterpolation);else throw Error(t)}return G(`KeyframeTrack:`,t),this}return this.createInterpolant=t,this}getInterpolation(){switch(this.createInterpolant){case this.InterpolantFactoryMethodDiscrete:return Wl;case this.InterpolantFactoryMethodLinear:return Gl;case this.InterpolantFactoryMethodSmooth:return Kl;case this.InterpolantFactoryMethodBezier:return ql}}getValueSize(){return this.values.length/this.times.length}shift(e){if(e!==0){let t=this.times;for(let n=0,r=t.length;n!==r;++n)t[n]+=e;km(this.settings)&&(zm(this.settings.inTangents,e),zm(this.settings.outTangents,e))}return this}scale(e){if(e!==1){let t=this.times;for(let n=0,r=t.length;n!==r;++n)t[n]*=e;km(this.settings)&&(Bm(this.settings.inTangents,e),Bm(this.settings.outTangents,e))}return this}trim(e,t){let n=this.times,r=n.length,i=0,a=r-1;for(;i!==r&&n[i]<e;)++i;for(;a!==-1&&n[a]>t;)--a;if(++a,i!==0||a!==r){i>=a&&(a=Math.max(a,1),i=a-1);let e=this.getValueSize();this.times=n.slice(i,a),this.values=this.values.slice(i*e,a*e)}return this}validate(){let e=!0,t=this.getValueSize();t-Math.floor(t)!==0&&(K(`KeyframeTrack: Invalid value size in track.`,this),e=!1);let n=this.times,r=this.values,i=n.length;i===0&&(K(`KeyframeTrack: Track is empty.`,this),e=!1);let a=null;for(let t=0;t!==i;t++){let r=n[t];if(typeof r==`number`&&isNaN(r)){K(`KeyframeTrack: Time is not a valid number.`,this,t,r),e=!1;break}if(a!==null&&a>r){K(`KeyframeTrack: Out of order keys.`,this,t,r,a),e=!1;break}a=r}if(r!==void 0&&ou(r))for(let t=0,n=r.length;t!==n;++t){let n=r[t];if(isNaN(n)){K(`KeyframeTrack: Value is not a valid number.`,this,t,n),e=!1;break}}return e}optimize(){let e=this.times.slice(),t=this.values.slice(),n=this.getValueSize(),r=this.getInterpolation()===Kl,i=e.length-1,a=1;for(let o=1;o<i;++o){let i=!1,s=e[o];if(s!==e[o+1]&&(o!==1||s!==e[0])){if(r)i=!0;else{let e=o*n,r=e-n,a=e+n;for(let o=0;o!==n;++o){let n=t[e+o];if(n!==t[r+o]||n!==t[a+o]){i=!0;break}}}}if(i){if(o!==a){e[a]=e[o];let r=o*n,i=a*n;for(let e=0;e!==n;++e)t[i+e]=t[r+e]}++a}}if(i>0){e[a]=e[i];for(let e=i*n,r=a*n,o=0;o!==n;++o)t[r+o]=t[e+o];++a}return a===e.length?(this.times=e,this.values=t):(this.times=e.slice(0,a),this.values=t.slice(0,a*n)),this}clone(){let e=this.times.slice(),t=this.values.slice(),n=this.constructor,r=new n(this.name,e,t);return r.createInterpolant=this.createInterpolant,km(this.settings)&&(r.settings={inTangents:this.settings.inTangents.slice(),outTangents:this.settings.outTangents.slice()}),r}};function zm(e,t){for(let n=0,r=e.length;n!==r;n+=2)e[n]+=t}function Bm(e,t){for(let n=0,r=e.length;n!==r;n+=2)e[n]*=t}Rm.prototype.ValueTypeName=``,Rm.prototype.TimeBufferType=Float32Array,Rm.prototype.ValueBufferType=Float32Array,Rm.prototype.DefaultInterpolation=Gl;var Vm=class extends Rm{constructor(e,t,n){super(e,t,n)}};Vm.prototype.ValueTypeName=`bool`,Vm.prototype.ValueBufferType=Array,Vm.prototype.DefaultInterpolation=Wl,Vm.prototype.InterpolantFactoryMethodLinear=void 0,Vm.prototype.InterpolantFactoryMethodSmooth=void 0;var Hm=class extends Rm{constructor(e,t,n,r){super(e,t,n,r)}};Hm.prototype.ValueTypeName=`color`;var Um=class extends Rm{constructor(e,t,n,r){super(e,t,n,r)}};Um.prototype.ValueTypeName=`number`;var Wm=class extends Am{constructor(e,t,n,r){super(e,t,n,r)}interpolate_(e,t,n,r){let i=this.resultBuffer,a=this.sampleValues,o=this.valueSize,s=(n-t)/(r-t),c=e*o;for(let e=c+o;c!==e;c+=4)Uu.slerpFlat(i,0,a,c-o,a,c,s);return i}},Gm=class extends Rm{constructor(e,t,n,r){super(e,t,n,r)}InterpolantFactoryMethodLinear(e){return new Wm(this.times,this.values,this.getValueSize(),e)}};Gm.prototype.ValueTypeName=`quaternion`,Gm.prototype.InterpolantFactoryMethodSmooth=void 0;var Km=class extends Rm{constructor(e,t,n){super(e,t,n)}};Km.prototype.ValueTypeName=`string`,Km.prototype.ValueBufferType=Array,Km.prototype.DefaultInterpolation=Wl,Km.prototype.InterpolantFactoryMethodLinear=void 0,Km.prototype.InterpolantFactoryMethodSmooth=void 0;var qm=class extends Rm{constructor(e,t,n,r){super(e,t,n,r)}};qm.prototype.ValueTypeName=`vector`;var Jm=class extends zd{static registerNode(e){this.prototype._lightNode=e}constructor(e,t=1){super(),this.isLight=!0,this.type=`Light`,this.color=new Z(e),this.intensity=t}copy(e,t){return super.copy(e,t),this.color.copy(e.color),this.intensity=e.intensity,this}toJSON(e){let t=super.toJSON(e);return t.object.color=this.color.getHex(),t.object.intensity=this.intensity,t}},Ym=class extends Jm{constructor(e,t,n){super(e,n),this.isHemisphereLight=!0,this.type=`HemisphereLight`,this.position.copy(zd.DEFAULT_UP),this.updateMatrix(),this.groundColor=new Z(t)}copy(e,t){return super.copy(e,t),this.groundColor.copy(e.groundColor),this}toJSON(e){let t=super.toJSON(e);return t.object.groundColor=this.groundColor.getHex(),t}},Xm=new fd,Zm=new Y,Qm=new Y,$m=class{constructor(e){this.camera=e,this.intensity=1,this.bias=0,this.biasNode=null,this.normalBias=0,this.radius=1,this.blurSamples=8,this.mapSize=new J(512,512),this.mapType=zc,this.map=null,this.mapPass=null,this.matrix=new fd,this.autoUpdate=!0,this.needsUpdate=!1,this._frustum=new Np,this._frameExtents=new J(1,1),this._viewportCount=1,this._viewports=[new sd(0,0,1,1)]}getViewportCount(){return this._viewportCount}getCamera(){return this.camera}getFrustum(){return this._frustum}updateMatrices(e){let t=this.camera;Zm.setFromMatrixPosition(e.matrixWorld),t.position.copy(Zm),Qm.setFromMatrixPosition(e.target.matrixWorld),t.lookAt(Qm),t.updateMatrixWorld(),this._updateMatrix(t,this.matrix,this._frustum)}_updateMatrix(e,t,n,r){Xm.multiplyMatrices(e.projectionMatrix,e.matrixWorldInverse),n.setFromProjectionMatrix(Xm,e.coordinateSystem,e.reversedDepth);let i=this._frameExtents,a=r?r.z/i.x:1,o=r?r.w/i.y:1,s=r?r.x/i.x:0,c=r?r.y/i.y:0;e.coordinateSystem===2001||e.reversedDepth?t.set(.5*a,0,0,.5*a+s,0,.5*o,0,.5*o+c,0,0,1,0,0,0,0,1):t.set(.5*a,0,0,.5*a+s,0,.5*o,0,.5*o+c,0,0,.5,.5,0,0,0,1),t.multiply(Xm)}getViewport(e){return this._viewports[e]}getFrameExtents(){return this._frameExtents}dispose(){this.map&&this.map.dispose(),this.mapPass&&this.mapPass.dispose()}copy(e){return this.camera=e.camera.clone(),this.intensity=e.intensity,this.bias=e.bias,this.radius=e.radius,this.autoUpdate=e.autoUpdate,this.needsUpdate=e.needsUpdate,this.normalBias=e.normalBias,this.blurSamples=e.blurSamples,this.mapSize.copy(e.mapSize),this.mapType=e.mapType,this.biasNode=e.biasNode,this}clone(){return new this.constructor().copy(this)}toJSON(){let e={};return e.intensity=this.intensity,e.bias=this.bias,e.normalBias=this.normalBias,e.radius=this.radius,e.blurSamples=this.blurSamples,e.mapSize=this.mapSize.toArray(),e.mapType=this.mapType,e.camera=this.camera.toJSON(!1).object,delete e.camera.matrix,e}},eh=new Y,th=new Uu,nh=new Y,rh=class extends zd{constructor(){super(),this.isCamera=!0,this.type=`Camera`,this.matrixWorldInverse=new fd,this.projectionMatrix=new fd,this.projectionMatrixInverse=new fd,this.coordinateSystem=iu,this._reversedDepth=!1}get reversedDepth(){return this._reversedDepth}copy(e,t){return super.copy(e,t),this.matrixWorldInverse.copy(e.matrixWorldInverse),this.projectionMatrix.copy(e.projectionMatrix),this.projectionMatrixInverse.copy(e.projectionMatrixInverse),this.coordinateSystem=e.coordinateSystem,this}getWorldDirection(e){return super.getWorldDirection(e).negate()}updateMatrixWorld(e){super.updateMatrixWorld(e),this.matrixWorld.decompose(eh,th,nh),nh.x===1&&nh.y===1&&nh.z===1?this.matrixWorldInverse.copy(this.matrixWorld).invert():this.matrixWorldInverse.compose(eh,th,nh.set(1,1,1)).invert()}updateWorldMatrix(e,t,n=!1){super.updateWorldMatrix(e,t,n),this.matrixWorld.decompose(eh,th,nh),nh.x===1&&nh.y===1&&nh.z===1?this.matrixWorldInverse.copy(this.matrixWorld).invert():this.matrixWorldInverse.compose(eh,th,nh.set(1,1,1)).invert()}clone(){return new this.constructor().copy(this)}},ih=new Y,ah=new J,oh=new J,sh=class extends rh{constructor(e=50,t=1,n=.1,r=2e3){super(),this.isPerspectiveCamera=!0,this.type=`PerspectiveCamera`,this.fov=e,this.zoom=1,this.near=n,this.far=r,this.focus=10,this.aspect=t,this.view=null,this.filmGauge=35,this.filmOffset=0,this.updateProjectionMatrix()}copy(e,t){return super.copy(e,t),this.fov=e.fov,this.zoom=e.zoom,this.near=e.near,this.far=e.far,this.focus=e.focus,this.aspect=e.aspect,this.view=e.view===null?null:Object.assign({},e.view),this.filmGauge=e.filmGauge,this.filmOffset=e.filmOffset,this}setFocalLength(e){let t=.5*this.getFilmHeight()/e;this.fov=yu*2*Math.atan(t),this.updateProjectionMatrix()}getFocalLength(){let e=Math.tan(vu*.5*this.fov);return .5*this.getFilmHeight()/e}getEffectiveFOV(){return yu*2*Math.atan(Math.tan(vu*.5*this.fov)/this.zoom)}getFilmWidth(){return this.filmGauge*Math.min(this.aspect,1)}getFilmHeight(){return this.filmGauge/Math.max(this.aspect,1)}getViewBounds(e,t,n){ih.set(-1,-1,.5).applyMatrix4(this.projectionMatrixInverse),t.set(ih.x,ih.y).multiplyScalar(-e/ih.z),ih.set(1,1,.5).applyMatrix4(this.projectionMatrixInverse),n.set(ih.x,ih.y).multiplyScalar(-e/ih.z)}getViewSize(e,t){return this.getViewBounds(e,ah,oh),t.subVectors(oh,ah)}setViewOffset(e,t,n,r,i,a){this.aspect=e/t,this.view===null&&(this.view={enabled:!0,fullWidth:1,fullHeight:1,offsetX:0,offsetY:0,width:1,height:1}),this.view.enabled=!0,this.view.fullWidth=e,this.view.fullHeight=t,this.view.offsetX=n,this.view.offsetY=r,this.view.width=i,this.view.height=a,this.updateProjectionMatrix()}clearViewOffset(){this.view!==null&&(this.view.enabled=!1),this.updateProjectionMatrix()}updateProjectionMatrix(){let e=this.near,t=e*Math.tan(vu*.5*this.fov)/this.zoom,n=2*t,r=this.aspect*n,i=-.5*r,a=this.view;if(this.view!==null&&this.view.enabled){let e=a.fullWidth,o=a.fullHeight;i+=a.offsetX*r/e,t-=a.offsetY*n/o,r*=a.width/e,n*=a.height/o}let o=this.filmOffset;o!==0&&(i+=e*o/this.getFilmWidth()),this.projectionMatrix.makePerspective(i,i+r,t,t-n,e,this.far,this.coordinateSystem,this.reversedDepth),this.projectionMatrixInverse.copy(this.projectionMatrix).invert()}toJSON(e){let t=super.toJSON(e);return t.object.fov=this.fov,t.object.zoom=this.zoom,t.object.near=this.near,t.object.far=this.far,t.object.focus=this.focus,t.object.aspect=this.aspect,this.view!==null&&(t.object.view=Object.assign({},this.view)),t.object.filmGauge=this.filmGauge,t.object.filmOffset=this.filmOffset,t}},ch=class extends rh{constructor(e=-1,t=1,n=1,r=-1,i=.1,a=2e3){super(),this.isOrthographicCamera=!0,this.type=`OrthographicCamera`,this.zoom=1,this.view=null,this.left=e,this.right=t,this.top=n,this.bottom=r,this.near=i,this.far=a,this.updateProjectionMatrix()}copy(e,t){return super.copy(e,t),this.left=e.left,this.right=e.right,this.top=e.top,this.bottom=e.bottom,this.near=e.near,this.far=e.far,this.zoom=e.zoom,this.view=e.view===null?null:Object.assign({},e.view),this}setViewOffset(e,t,n,r,i,a){this.view===null&&(this.view={enabled:!0,fullWidth:1,fullHeight:1,offsetX:0,offsetY:0,width:1,height:1}),this.view.enabled=!0,this.view.fullWidth=e,this.view.fullHeight=t,this.view.offsetX=n,this.view.offsetY=r,this.view.width=i,this.view.height=a,this.updateProjectionMatrix()}clearViewOffset(){this.view!==null&&(this.view.enabled=!1),this.updateProjectionMatrix()}updateProjectionMatrix(){let e=(this.right-this.left)/(2*this.zoom),t=(this.top-this.bottom)/(2*this.zoom),n=(this.right+this.left)/2,r=(this.top+this.bottom)/2,i=n-e,a=n+e,o=r+t,s=r-t;if(this.view!==null&&this.view.enabled){let e=(this.right-this.left)/this.view.fullWidth/this.zoom,t=(this.top-this.bottom)/this.view.fullHeight/this.zoom;i+=e*this.view.offsetX,a=i+e*this.view.width,o-=t*this.view.offsetY,s=o-t*this.view.height}this.projectionMatrix.makeOrthographic(i,a,o,s,this.near,this.far,this.coordinateSystem,this.reversedDepth),this.projectionMatrixInverse.copy(this.projectionMatrix).invert()}toJSON(e){let t=super.toJSON(e);return t.object.zoom=this.zoom,t.object.left=this.left,t.object.right=this.right,t.object.top=this.top,t.object.bottom=this.bottom,t.object.near=this.near,t.object.far=this.far,this.view!==null&&(t.object.view=Object.assign({},this.view)),t}},lh=class extends $m{constructor(){super(new ch(-5,5,5,-5,.5,500)),this.isDirectionalLightShadow=!0}},uh=class extends Jm{constructor(e,t){super(e,t),this.isDirectionalLight=!0,this.type=`DirectionalLight`,this.position.copy(zd.DEFAULT_UP),this.updateMatrix(),this.target=new zd,this.shadow=new lh}dispose(){super.dispose(),this.shadow.dispose()}copy(e){return super.copy(e),this.target=e.target.clone(),this.shadow=e.shadow.clone(),this}toJSON(e){let t=super.toJSON(e);return t.object.shadow=this.shadow.toJSON(),t.object.target=this.target.uuid,t}},dh=class extends Uf{constructor(){super(),this.isInstancedBufferGeometry=!0,this.type=`InstancedBufferGeometry`,this.instanceCount=1/0}copy(e){return super.copy(e),this.instanceCount=e.instanceCount,this}toJSON(){let e=super.toJSON();return e.instanceCount=this.instanceCount,e.isInstancedBufferGeometry=!0,e}},fh=-90,ph=1,mh=class extends zd{constructor(e,t,n){super(),this.type=`CubeCamera`,this.renderTarget=n,this.coordinateSystem=null,this.activeMipmapLevel=0;let r=new sh(fh,ph,e,t);r.layers=this.layers,this.add(r);let i=new sh(fh,ph,e,t);i.layers=this.layers,this.add(i);let a=new sh(fh,ph,e,t);a.layers=this.layers,this.add(a);let o=new sh(fh,ph,e,t);o.layers=this.layers,this.add(o);let s=new sh(fh,ph,e,t);s.layers=this.layers,this.add(s);let c=new sh(fh,ph,e,t);c.layers=this.layers,this.add(c)}updateCoordinateSystem(){let e=this.coordinateSystem,t=this.children.concat(),[n,r,i,a,o,s]=t;for(let e of t)this.remove(e);if(e===2e3)n.up.set(0,1,0),n.lookAt(1,0,0),r.up.set(0,1,0),r.lookAt(-1,0,0),i.up.set(0,0,-1),i.lookAt(0,1,0),a.up.set(0,0,1),a.lookAt(0,-1,0),o.up.set(0,1,0),o.lookAt(0,0,1),s.up.set(0,1,0),s.lookAt(0,0,-1);else if(e===2001)n.up.set(0,-1,0),n.lookAt(-1,0,0),r.up.set(0,-1,0),r.lookAt(1,0,0),i.up.set(0,0,1),i.lookAt(0,1,0),a.up.set(0,0,-1),a.lookAt(0,-1,0),o.up.set(0,-1,0),o.lookAt(0,0,1),s.up.set(0,-1,0),s.lookAt(0,0,-1);else throw Error(`THREE.CubeCamera.updateCoordinateSystem(): Invalid coordinate system: `+e);for(let e of t)this.add(e),e.updateMatrixWorld()}update(e,t){this.parent===null&&this.updateMatrixWorld();let{renderTarget:n,activeMipmapLevel:r}=this;this.coordinateSystem!==e.coordinateSystem&&(this.coordinateSystem=e.coordinateSystem,this.updateCoordinateSystem());let[i,a,o,s,c,l]=this.children,u=e.getRenderTarget(),d=e.getActiveCubeFace(),f=e.getActiveMipmapLevel(),p=e.xr.enabled;e.xr.enabled=!1;let m=n.texture.mipmapsAutoUpdate;n.texture.mipmapsAutoUpdate=!1;let h=!1;h=e.isWebGLRenderer===!0?e.state.buffers.depth.getReversed():e.reversedDepthBuffer,e.setRenderTarget(n,0,r),h&&e.autoClear===!1&&e.clearDepth(),e.render(t,i),e.setRenderTarget(n,1,r),h&&e.autoClear===!1&&e.clearDepth(),e.render(t,a),e.setRenderTarget(n,2,r),h&&e.autoClear===!1&&e.clearDepth(),e.render(t,o),e.setRenderTarget(n,3,r),h&&e.autoClear===!1&&e.clearDepth(),e.render(t,s),e.setRenderTarget(n,4,r),h&&e.autoClear===!1&&e.clearDepth(),e.render(t,c),n.texture.mipmapsAutoUpdate=m,e.setRenderTarget(n,5,r),h&&e.autoClear===!1&&e.clearDepth(),e.render(t,l),e.setRenderTarget(u,d,f),e.xr.enabled=p,n.texture.needsPMREMUpdate=!0}},hh=class extends sh{constructor(e=[]){super(),this.isArrayCamera=!0,this.isMultiViewCamera=!1,this.cameras=e,this.perCameraFrustumCulled=!1}},gh=`\\[\\]\\.:\\/`,_h=RegExp(`[\\[\\]\\.:\\/]`,`g`),vh=`[^\\[\\]\\.:\\/]`,yh=`[^`+gh.replace(`\\.`,``)+`]`,bh=`((?:WC+[\\/:])*)`.replace(`WC`,vh),xh=`(WCOD+)?`.replace(`WCOD`,yh),Sh=`(?:\\.(WC+)(?:\\[(.+)\\])?)?`.replace(`WC`,vh),Ch=`\\.(WC+)(?:\\[(.+)\\])?`.replace(`WC`,vh),wh=RegExp(`^`+bh+xh+Sh+Ch+`$`),Th=[`material`,`materials`,`bones`,`map`],Eh=class{constructor(e,t,n){let r=n||Dh.parseTrackName(t);this._targetGroup=e,this._bindings=e.subscribe_(t,r)}getValue(e,t){this.bind();let n=this._targetGroup.nCachedObjects_,r=this._bindings[n];r!==void 0&&r.getValue(e,t)}setValue(e,t){let n=this._bindings;for(let r=this._targetGroup.nCachedObjects_,i=n.length;r!==i;++r)n[r].setValue(e,t)}bind(){let e=this._bindings;for(let t=this._targetGroup.nCachedObjects_,n=e.length;t!==n;++t)e[t].bind()}unbind(){let e=this._bindings;for(let t=this._targetGroup.nCachedObjects_,n=e.length;t!==n;++t)e[t].unbind()}},Dh=class e{constructor(t,n,r){this.path=n,this.parsedPath=r||e.parseTrackName(n),this.node=e.findNode(t,this.parsedPath.nodeName),this.rootNode=t,this.getValue=this._getValue_unbound,this.setValue=this._setValue_unbound}static create(t,n,r){return t&&t.isAnimationObjectGroup?new e.Composite(t,n,r):new e(t,n,r)}static sanitizeNodeName(e){return e.replace(/\s/g,`_`).replace(_h,``)}static parseTrackName(e){let t=wh.exec(e);if(t===null)throw Error(`THREE.PropertyBinding: Cannot parse trackName: `+e);let n={nodeName:t[2],objectName:t[3],objectIndex:t[4],propertyName:t[5],propertyIndex:t[6]},r=n.nodeName&&n.nodeName.lastIndexOf(`.`);if(r!==void 0&&r!==-1){let e=n.nodeName.substring(r+1);Th.indexOf(e)!==-1&&(n.nodeName=n.nodeName.substring(0,r),n.objectName=e)}if(n.propertyName===null||n.propertyName.length===0)throw Error(`THREE.PropertyBinding: can not parse propertyName from trackName: `+e);return n}static findNode(e,t){if(t===void 0||t===``||t===`.`||t===-1||t===e.name||t===e.uuid)return e;if(e.skeleton){let n=e.skeleton.getBoneByName(t);if(n!==void 0)return n}if(e.children){let n=function(e){for(let r=0;r<e.length;r++){let i=e[r];if(i.name===t||i.uuid===t)return i;let a=n(i.children);if(a)return a}return null},r=n(e.children);if(r)return r}return null}_getValue_unavailable(){}_setValue_unavailable(){}_getValue_direct(e,t){e[t]=this.targetObject[this.propertyName]}_getValue_array(e,t){let n=this.resolvedProperty;for(let r=0,i=n.length;r!==i;++r)e[t++]=n[r]}_getValue_arrayElement(e,t){e[t]=this.resolvedProperty[this.propertyIndex]}_getValue_toArray(e,t){this.resolvedProperty.toArray(e,t)}_setValue_direct(e,t){this.targetObject[this.propertyName]=e[t]}_setValue_direct_setNeedsUpdate(e,t){this.targetObject[this.propertyName]=e[t],this.targetObject.needsUpdate=!0}_setValue_direct_setMatrixWorldNeedsUpdate(e,t){this.targetObject[this.propertyName]=e[t],this.targetObject.matrixWorldNeedsUpdate=!0}_setValue_array(e,t){let n=this.resolvedProperty;for(let r=0,i=n.length;r!==i;++r)n[r]=e[t++]}_setValue_array_setNeedsUpdate(e,t){let n=this.resolvedProperty;for(let r=0,i=n.length;r!==i;++r)n[r]=e[t++];this.targetObject.needsUpdate=!0}_setValue_array_setMatrixWorldNeedsUpdate(e,t){let n=this.resolvedProperty;for(let r=0,i=n.length;r!==i;++r)n[r]=e[t++];this.targetObject.matrixWorldNeedsUpdate=!0}_setValue_arrayElement(e,t){this.resolvedProperty[this.propertyIndex]=e[t]}_setValue_arrayElement_setNeedsUpdate(e,t){this.resolvedProperty[this.propertyIndex]=e[t],this.targetObject.needsUpdate=!0}_setValue_arrayElement_setMatrixWorldNeedsUpdate(e,t){this.resolvedProperty[this.propertyIndex]=e[t],this.targetObject.matrixWorldNeedsUpdate=!0}_setValue_fromArray(e,t){this.resolvedProperty.fromArray(e,t)}_setValue_fromArray_setNeedsUpdate(e,t){this.resolvedProperty.fromArray(e,t),this.targetObject.needsUpdate=!0}_setValue_fromArray_setMatrixWorldNeedsUpdate(e,t){this.resolvedProperty.fromArray(e,t),this.targetObject.matrixWorldNeedsUpdate=!0}_getValue_unbound(e,t){this.bind(),this.getValue(e,t)}_setValue_unbound(e,t){this.bind(),this.setValue(e,t)}bind(){let t=this.node,n=this.parsedPath,r=n.objectName,i=n.propertyName,a=n.propertyIndex;if(t||(t=e.findNode(this.rootNode,n.nodeName),this.node=t),this.getValue=this._getValue_unavailable,this.setValue=this._setValue_unavailable,!t){G(`PropertyBinding: No target node found for track: `+this.path+`.`);return}if(r){let e=n.objectIndex;switch(r){case`materials`:if(!t.material){K(`PropertyBinding: Can not bind to material as node does not have a material.`,this);return}if(!t.material.materials){K(`PropertyBinding: Can not bind to material.materials as node.material does not have a materials array.`,this);return}t=t.material.materials;break;case`bones`:if(!t.skeleton){K(`PropertyBinding: Can not bind to bones as node does not have a skeleton.`,this);return}t=t.skeleton.bones;for(let n=0;n<t.length;n++)if(t[n].name===e){e=n;break}break;case`map`:if(`map`in t){t=t.map;break}if(!t.material){K(`PropertyBinding: Can not bind to material as node does not have a material.`,this);return}if(!t.material.map){K(`PropertyBinding: Can not bind to material.map as node.material does not have a map.`,this);return}t=t.material.map;break;default:if(t[r]===void 0){K(`PropertyBinding: Can not bind to objectName of node undefined.`,this);return}t=t[r]}if(e!==void 0){if(t[e]===void 0){K(`PropertyBinding: Trying to bind to objectIndex of objectName, but is undefined.`,this,t);return}t=t[e]}}let o=t[i];if(o===void 0){let e=n.nodeName;K(`PropertyBinding: Trying to update property for track: `+e+`.`+i+` but it wasn't found.`,t);return}let s=this.Versioning.None;this.targetObject=t,t.isMaterial===!0?s=this.Versioning.NeedsUpdate:t.isObject3D===!0&&(s=this.Versioning.MatrixWorldNeedsUpdate);let c=this.BindingType.Direct;if(a!==void 0){if(i===`morphTargetInfluences`){if(!t.geometry){K(`PropertyBinding: Can not bind to morphTargetInfluences because node does not have a geometry.`,this);return}if(!t.geometry.morphAttributes){K(`PropertyBinding: Can not bind to morphTargetInfluences because node does not have a geometry.morphAttributes.`,this);return}t.morphTargetDictionary[a]!==void 0&&(a=t.morphTargetDictionary[a])}c=this.BindingType.ArrayElement,this.resolvedProperty=o,this.propertyIndex=a}else o.fromArray!==void 0&&o.toArray!==void 0?(c=this.BindingType.HasFromToArray,this.resolvedProperty=o):Array.isArray(o)?(c=this.BindingType.EntireArray,this.resolvedProperty=o):this.propertyName=i;this.getValue=this.GetterByBindingType[c],this.setValue=this.SetterByBindingTypeAndVersioning[c][s]}unbind(){this.node=null,this.getValue=this._getValue_unbound,this.setValue=this._setValue_unbound}};Dh.Composite=Eh,Dh.prototype.BindingType={Direct:0,EntireArray:1,ArrayElement:2,HasFromToArray:3},Dh.prototype.Versioning={None:0,NeedsUpdate:1,MatrixWorldNeedsUpdate:2},Dh.prototype.GetterByBindingType=[Dh.prototype._getValue_direct,Dh.prototype._getValue_array,Dh.prototype._getValue_arrayElement,Dh.prototype._getValue_toArray],Dh.prototype.SetterByBindingTypeAndVersioning=[[Dh.prototype._setValue_direct,Dh.prototype._setValue_direct_setNeedsUpdate,Dh.prototype._setValue_direct_setMatrixWorldNeedsUpdate],[Dh.prototype._setValue_array,Dh.prototype._setValue_array_setNeedsUpdate,Dh.prototype._setValue_array_setMatrixWorldNeedsUpdate],[Dh.prototype._setValue_arrayElement,Dh.prototype._setValue_arrayElement_setNeedsUpdate,Dh.prototype._setValue_arrayElement_setMatrixWorldNeedsUpdate],[Dh.prototype._setValue_fromArray,Dh.prototype._setValue_fromArray_setNeedsUpdate,Dh.prototype._setValue_fromArray_setMatrixWorldNeedsUpdate]];var Oh=class extends Wf{constructor(e,t,n=1){super(e,t),this.isInstancedInterleavedBuffer=!0,this.meshPerAttribute=n}copy(e){return super.copy(e),this.meshPerAttribute=e.meshPerAttribute,this}clone(e){let t=super.clone(e);return t.meshPerAttribute=this.meshPerAttribute,t}toJSON(e){let t=super.toJSON(e);return t.isInstancedInterleavedBuffer=!0,t.meshPerAttribute=this.meshPerAttribute,t}},kh=new fd,Ah=class{constructor(e,t,n=0,r=1/0){this.ray=new ip(e,t),this.near=n,this.far=r,this.camera=null,this.layers=new Cd,this.params={Mesh:{},Line:{threshold:1},LOD:{},Points:{threshold:1},Sprite:{}}}set(e,t){this.ray.set(e,t)}setFromCamera(e,t){t.isPerspectiveCamera?(this.ray.origin.setFromMatrixPosition(t.matrixWorld),this.ray.direction.set(e.x,e.y,.5).unproject(t).sub(this.ray.origin).normalize(),this.camera=t):t.isOrthographicCamera?(this.ray.origin.set(e.x,e.y,t.projectionMatrix.elements[14]).unproject(t),this.ray.direction.set(0,0,-1).transformDirection(t.matrixWorld),this.camera=t):K(`Raycaster: Unsupported camera type: `+t.type)}setFromXRController(e){return kh.identity().extractRotation(e.matrixWorld),this.ray.origin.setFromMatrixPosition(e.matrixWorld),this.ray.direction.set(0,0,-1).applyMatrix4(kh),this}intersectObject(e,t=!0,n=[]){return Mh(e,this,n,t),n.sort(jh),n}intersectObjects(e,t=!0,n=[]){for(let r=0,i=e.length;r<i;r++)Mh(e[r],this,n,t);return n.sort(jh),n}};function jh(e,t){return e.distance-t.distance}function Mh(e,t,n,r){let i=!0;if(e.layers.test(t.layers)&&e.raycast(t,n)===!1&&(i=!1),i===!0&&r===!0){let r=e.children;for(let e=0,i=r.length;e<i;e++)Mh(r[e],t,n,!0)}}var Nh=class{constructor(e=1,t=0,n=0){this.radius=e,this.phi=t,this.theta=n}set(e,t,n){return this.radius=e,this.phi=t,this.theta=n,this}copy(e){return this.radius=e.radius,this.phi=e.phi,this.theta=e.theta,this}makeSafe(){let e=1e-6;return this.phi=q(this.phi,e,Math.PI-e),this}setFromVector3(e){return this.setFromCartesianCoords(e.x,e.y,e.z)}setFromCartesianCoords(e,t,n){return this.radius=Math.sqrt(e*e+t*t+n*n),this.radius===0?(this.theta=0,this.phi=0):(this.theta=Math.atan2(e,n),this.phi=Math.acos(q(t/this.radius,-1,1))),this}clone(){return new this.constructor().copy(this)}};(class{static{this.prototype.isMatrix2=!0}constructor(e,t,n,r){this.elements=[1,0,0,1],e!==void 0&&this.set(e,t,n,r)}identity(){return this.set(1,0,0,1),this}fromArray(e,t=0){for(let n=0;n<4;n++)this.elements[n]=e[n+t];return this}set(e,t,n,r){let i=this.elements;return i[0]=e,i[2]=t,i[1]=n,i[3]=r,this}});var Ph=new Y,Fh=new Y,Ih=new Y,Lh=new Y,Rh=new Y,zh=new Y,Bh=new Y,Vh=class{constructor(e=new Y,t=new Y){this.start=e,this.end=t}set(e,t){return this.start.copy(e),this.end.copy(t),this}copy(e){return this.start.copy(e.start),this.end.copy(e.end),this}getCenter(e){return e.addVectors(this.start,this.end).multiplyScalar(.5)}delta(e){return e.subVectors(this.end,this.start)}distanceSq(){return this.start.distanceToSquared(this.end)}distance(){return this.start.distanceTo(this.end)}at(e,t){return this.delta(t).multiplyScalar(e).add(this.start)}closestPointToPointParameter(e,t){Ph.subVectors(e,this.start),Fh.subVectors(this.end,this.start);let n=Fh.dot(Fh);if(n===0)return 0;let r=Fh.dot(Ph)/n;return t&&(r=q(r,0,1)),r}closestPointToPoint(e,t,n){let r=this.closestPointToPointParameter(e,t);return this.delta(n).multiplyScalar(r).add(this.start)}distanceSqToLine3(e,t=zh,n=Bh){let r=1e-8*1e-8,i,a,o=this.start,s=e.start,c=this.end,l=e.end;Ih.subVectors(c,o),Lh.subVectors(l,s),Rh.subVectors(o,s);let u=Ih.dot(Ih),d=Lh.dot(Lh),f=Lh.dot(Rh);if(u<=r&&d<=r)return t.copy(o),n.copy(s),t.distanceToSquared(n);if(u<=r)i=0,a=f/d,a=q(a,0,1);else{let e=Ih.dot(Rh);if(d<=r)a=0,i=q(-e/u,0,1);else{let t=Ih.dot(Lh),n=u*d-t*t;i=n===0?0:q((t*f-e*d)/n,0,1),a=(t*i+f)/d,a<0?(a=0,i=q(-e/u,0,1)):a>1&&(a=1,i=q((t-e)/u,0,1))}}return t.copy(o).addScaledVector(Ih,i),n.copy(s).addScaledVector(Lh,a),t.distanceToSquared(n)}applyMatrix4(e){return this.start.applyMatrix4(e),this.end.applyMatrix4(e),this}equals(e){return e.start.equals(this.start)&&e.end.equals(this.end)}clone(){return new this.constructor().copy(this)}},Hh=class extends hu{constructor(e,t=null){super(),this.object=e,this.domElement=t,this.enabled=!0,this.state=-1,this.keys={},this.mouseButtons={LEFT:null,MIDDLE:null,RIGHT:null},this.touches={ONE:null,TWO:null}}connect(e){this.domElement!==null&&this.disconnect(),this.domElement=e}disconnect(){}dispose(){}update(){}};function Uh(e,t,n,r){let i=Wh(r);switch(n){case Qc:return e*t;case rl:return e*t/i.components*i.byteLength;case il:return e*t/i.components*i.byteLength;case al:return e*t*2/i.components*i.byteLength;case ol:return e*t*2/i.components*i.byteLength;case $c:return e*t*3/i.components*i.byteLength;case el:return e*t*4/i.components*i.byteLength;case sl:return e*t*4/i.components*i.byteLength;case cl:case ll:return Math.floor((e+3)/4)*Math.floor((t+3)/4)*8;case ul:case dl:return Math.floor((e+3)/4)*Math.floor((t+3)/4)*16;case pl:case hl:return Math.max(e,16)*Math.max(t,8)/4;case fl:case ml:return Math.max(e,8)*Math.max(t,8)/2;case gl:case _l:case yl:case bl:return Math.floor((e+3)/4)*Math.floor((t+3)/4)*8;case vl:case xl:case Sl:return Math.floor((e+3)/4)*Math.floor((t+3)/4)*16;case Cl:return Math.floor((e+3)/4)*Math.floor((t+3)/4)*16;case wl:return Math.floor((e+4)/5)*Math.floor((t+3)/4)*16;case Tl:return Math.floor((e+4)/5)*Math.floor((t+4)/5)*16;case El:return Math.floor((e+5)/6)*Math.floor((t+4)/5)*16;case Dl:return Math.floor((e+5)/6)*Math.floor((t+5)/6)*16;case Ol:return Math.floor((e+7)/8)*Math.floor((t+4)/5)*16;case kl:return Math.floor((e+7)/8)*Math.floor((t+5)/6)*16;case Al:return Math.floor((e+7)/8)*Math.floor((t+7)/8)*16;case jl:return Math.floor((e+9)/10)*Math.floor((t+4)/5)*16;case Ml:return Math.floor((e+9)/10)*Math.floor((t+5)/6)*16;case Nl:return Math.floor((e+9)/10)*Math.floor((t+7)/8)*16;case Pl:return Math.floor((e+9)/10)*Math.floor((t+9)/10)*16;case Fl:return Math.floor((e+11)/12)*Math.floor((t+9)/10)*16;case Il:return Math.floor((e+11)/12)*Math.floor((t+11)/12)*16;case Ll:case Rl:case zl:return Math.ceil(e/4)*Math.ceil(t/4)*16;case Bl:case Vl:return Math.ceil(e/4)*Math.ceil(t/4)*8;case Hl:case Ul:return Math.ceil(e/4)*Math.ceil(t/4)*16}throw Error(`Unable to determine texture byte length for ${n} format.`)}function Wh(e){switch(e){case zc:case Bc:return{byteLength:1,components:1};case Hc:case Vc:case Kc:return{byteLength:2,components:1};case qc:case Jc:return{byteLength:2,components:4};case Wc:case Uc:case Gc:return{byteLength:4,components:1};case Xc:case Zc:return{byteLength:4,components:3}}throw Error(`THREE.TextureUtils: Unknown texture type ${e}.`)}typeof __THREE_DEVTOOLS__<`u`&&__THREE_DEVTOOLS__.dispatchEvent(new CustomEvent(`register`,{detail:{revision:`187`}})),typeof window<`u`&&(window.__THREE__?G(`WARNING: Multiple instances of Three.js being imported.`):window.__THREE__=`187`);function Gh(){let e=null,t=!1,n=null,r=null;function i(t,a){r=e.requestAnimationFrame(i),n(t,a)}return{start:function(){t!==!0&&n!==null&&e!==null&&(r=e.requestAnimationFrame(i),t=!0)},stop:function(){e!==null&&e.cancelAnimationFrame(r),t=!1},setAnimationLoop:function(e){n=e},setContext:function(t){e=t}}}function Kh(e){let t=new WeakMap;function n(t,n){let r=t.array,i=t.usage,a=r.byteLength,o=e.createBuffer();e.bindBuffer(n,o),e.bufferData(n,r,i),t.onUploadCallback();let s;if(r instanceof Float32Array)s=e.FLOAT;else if(typeof Float16Array<`u`&&r instanceof Float16Array)s=e.HALF_FLOAT;else if(r instanceof Uint16Array)s=t.isFloat16BufferAttribute?e.HALF_FLOAT:e.UNSIGNED_SHORT;else if(r instanceof Int16Array)s=e.SHORT;else if(r instanceof Uint32Array)s=e.UNSIGNED_INT;else if(r instanceof Int32Array)s=e.INT;else if(r instanceof Int8Array)s=e.BYTE;else if(r instanceof Uint8Array)s=e.UNSIGNED_BYTE;else if(r instanceof Uint8ClampedArray)s=e.UNSIGNED_BYTE;else throw Error(`THREE.WebGLAttributes: Unsupported buffer data format: `+r);return{buffer:o,type:s,bytesPerElement:r.BYTES_PER_ELEMENT,version:t.version,size:a}}function r(t,n,r){let i=n.array,a=n.updateRanges;if(e.bindBuffer(r,t),a.length===0)e.bufferSubData(r,0,i);else{a.sort((e,t)=>e.start-t.start);let t=0;for(let e=1;e<a.length;e++){let n=a[t],r=a[e];r.start<=n.start+n.count+1?n.count=Math.max(n.count,r.start+r.count-n.start):(++t,a[t]=r)}a.length=t+1;for(let t=0,n=a.length;t<n;t++){let n=a[t];e.bufferSubData(r,n.start*i.BYTES_PER_ELEMENT,i,n.start,n.count)}n.clearUpdateRanges()}n.onUploadCallback()}function i(e){return e.isInterleavedBufferAttribute&&(e=e.data),t.get(e)}function a(n){n.isInterleavedBufferAttribute&&(n=n.data);let r=t.get(n);r&&(e.deleteBuffer(r.buffer),t.delete(n))}function o(e,i){if(e.isInterleavedBufferAttribute&&(e=e.data),e.isGLBufferAttribute){let n=t.get(e);(!n||n.version<e.version)&&t.set(e,{buffer:e.buffer,type:e.type,bytesPerElement:e.elementSize,version:e.version});return}let a=t.get(e);if(a===void 0)t.set(e,n(e,i));else if(a.version<e.version){if(a.size!==e.array.byteLength)throw Error(`THREE.WebGLAttributes: The size of the buffer attribute's array buffer does not match the original size. Resizing buffer attributes is not supported.`);r(a.buffer,e,i),a.version=e.version}}return{get:i,remove:a,update:o}}var Q={alphahash_fragment:`#ifdef USE_ALPHAHASH
	if ( diffuseColor.a < getAlphaHashThreshold( vPosition ) ) discard;
#endif`,alphahash_pars_fragment:`#ifdef USE_ALPHAHASH
	const float ALPHA_HASH_SCALE = 0.05;
	float hash2D( vec2 value ) {
		return fract( 1.0e4 * sin( 17.0 * value.x + 0.1 * value.y ) * ( 0.1 + abs( sin( 13.0 * value.y + value.x ) ) ) );
	}
	float hash3D( vec3 value ) {
		return hash2D( vec2( hash2D( value.xy ), value.z ) );
	}
	float getAlphaHashThreshold( vec3 position ) {
		float maxDeriv = max(
			length( dFdx( position.xyz ) ),
			length( dFdy( position.xyz ) )
		);
		float pixScale = 1.0 / ( ALPHA_HASH_SCALE * maxDeriv );
		vec2 pixScales = vec2(
			exp2( floor( log2( pixScale ) ) ),
			exp2( ceil( log2( pixScale ) ) )
		);
		vec2 alpha = vec2(
			hash3D( floor( pixScales.x * position.xyz ) ),
			hash3D( floor( pixScales.y * position.xyz ) )
		);
		float lerpFactor = fract( log2( pixScale ) );
		float x = ( 1.0 - lerpFactor ) * alpha.x + lerpFactor * alpha.y;
		float a = min( lerpFactor, 1.0 - lerpFactor );
		vec3 cases = vec3(
			x * x / ( 2.0 * a * ( 1.0 - a ) ),
			( x - 0.5 * a ) / ( 1.0 - a ),
			1.0 - ( ( 1.0 - x ) * ( 1.0 - x ) / ( 2.0 * a * ( 1.0 - a ) ) )
		);
		float threshold = ( x < ( 1.0 - a ) )
			? ( ( x < a ) ? cases.x : cases.y )
			: cases.z;
		return clamp( threshold , 1.0e-6, 1.0 );
	}
#endif`,alphamap_fragment:`#ifdef USE_ALPHAMAP
	diffuseColor.a *= texture2D( alphaMap, vAlphaMapUv ).g;
#endif`,alphamap_pars_fragment:`#ifdef USE_ALPHAMAP
	uniform sampler2D alphaMap;
#endif`,alphatest_fragment:`#ifdef USE_ALPHATEST
	#ifdef ALPHA_TO_COVERAGE
	diffuseColor.a = smoothstep( alphaTest, alphaTest + fwidth( diffuseColor.a ), diffuseColor.a );
	if ( diffuseColor.a == 0.0 ) discard;
	#else
	if ( diffuseColor.a < alphaTest ) discard;
	#endif
#endif`,alphatest_pars_fragment:`#ifdef USE_ALPHATEST
	uniform float alphaTest;
#endif`,aomap_fragment:`#ifdef USE_AOMAP
	float ambientOcclusion = ( texture2D( aoMap, vAoMapUv ).r - 1.0 ) * aoMapIntensity + 1.0;
	reflectedLight.indirectDiffuse *= ambientOcclusion;
	#if defined( USE_CLEARCOAT ) 
		clearcoatSpecularIndirect *= ambientOcclusion;
	#endif
	#if defined( USE_SHEEN ) 
		sheenSpecularIndirect *= ambientOcclusion;
	#endif
	#if defined( USE_ENVMAP ) && defined( STANDARD )
		float dotNV = saturate( dot( geometryNormal, geometryViewDir ) );
		reflectedLight.indirectSpecular *= computeSpecularOcclusion( dotNV, ambientOcclusion, material.roughness );
	#endif
#endif`,aomap_pars_fragment:`#ifdef USE_AOMAP
	uniform sampler2D aoMap;
	uniform float aoMapIntensity;
#endif`,batching_pars_vertex:`#ifdef USE_BATCHING
	#if ! defined( GL_ANGLE_multi_draw )
	#define gl_DrawID _gl_DrawID
	uniform int _gl_DrawID;
	#endif
	uniform highp sampler2D batchingTexture;
	uniform highp usampler2D batchingIdTexture;
	mat4 getBatchingMatrix( const in float i ) {
		int size = textureSize( batchingTexture, 0 ).x;
		int j = int( i ) * 4;
		int x = j % size;
		int y = j / size;
		vec4 v1 = texelFetch( batchingTexture, ivec2( x, y ), 0 );
		vec4 v2 = texelFetch( batchingTexture, ivec2( x + 1, y ), 0 );
		vec4 v3 = texelFetch( batchingTexture, ivec2( x + 2, y ), 0 );
		vec4 v4 = texelFetch( batchingTexture, ivec2( x + 3, y ), 0 );
		return mat4( v1, v2, v3, v4 );
	}
	float getIndirectIndex( const in int i ) {
		int size = textureSize( batchingIdTexture, 0 ).x;
		int x = i % size;
		int y = i / size;
		return float( texelFetch( batchingIdTexture, ivec2( x, y ), 0 ).r );
	}
#endif
#ifdef USE_BATCHING_COLOR
	uniform sampler2D batchingColorTexture;
	vec4 getBatchingColor( const in float i ) {
		int size = textureSize( batchingColorTexture, 0 ).x;
		int j = int( i );
		int x = j % size;
		int y = j / size;
		return texelFetch( batchingColorTexture, ivec2( x, y ), 0 );
	}
#endif`,batching_vertex:`#ifdef USE_BATCHING
	mat4 batchingMatrix = getBatchingMatrix( getIndirectIndex( gl_DrawID ) );
#endif`,begin_vertex:`vec3 transformed = vec3( position );
#ifdef USE_ALPHAHASH
	vPosition = vec3( position );
#endif`,beginnormal_vertex:`vec3 objectNormal = vec3( normal );
#ifdef USE_TANGENT
	vec3 objectTangent = vec3( tangent.xyz );
#endif`,bsdfs:`float G_BlinnPhong_Implicit( ) {
	return 0.25;
}
float D_BlinnPhong( const in float shininess, const in float dotNH ) {
	return RECIPROCAL_PI * ( shininess * 0.5 + 1.0 ) * pow( dotNH, shininess );
}
vec3 BRDF_BlinnPhong( const in vec3 lightDir, const in vec3 viewDir, const in vec3 normal, const in vec3 specularColor, const in float shininess ) {
	vec3 halfDir = normalize( lightDir + viewDir );
	float dotNH = saturate( dot( normal, halfDir ) );
	float dotVH = saturate( dot( viewDir, halfDir ) );
	vec3 F = F_Schlick( specularColor, 1.0, dotVH );
	float G = G_BlinnPhong_Implicit( );
	float D = D_BlinnPhong( shininess, dotNH );
	return F * ( G * D );
} // validated`,iridescence_fragment:`#ifdef USE_IRIDESCENCE
	const mat3 XYZ_TO_REC709 = mat3(
		 3.2404542, -0.9692660,  0.0556434,
		-1.5371385,  1.8760108, -0.2040259,
		-0.4985314,  0.0415560,  1.0572252
	);
	vec3 Fresnel0ToIor( vec3 fresnel0 ) {
		vec3 sqrtF0 = sqrt( fresnel0 );
		return ( vec3( 1.0 ) + sqrtF0 ) / ( vec3( 1.0 ) - sqrtF0 );
	}
	vec3 IorToFresnel0( vec3 transmittedIor, float incidentIor ) {
		return pow2( ( transmittedIor - vec3( incidentIor ) ) / ( transmittedIor + vec3( incidentIor ) ) );
	}
	float IorToFresnel0( float transmittedIor, float incidentIor ) {
		return pow2( ( transmittedIor - incidentIor ) / ( transmittedIor + incidentIor ));
	}
	vec3 evalSensitivity( float OPD, vec3 shift ) {
		float phase = 2.0 * PI * OPD * 1.0e-9;
		vec3 val = vec3( 5.4856e-13, 4.4201e-13, 5.2481e-13 );
		vec3 pos = vec3( 1.6810e+06, 1.7953e+06, 2.2084e+06 );
		vec3 var = vec3( 4.3278e+09, 9.3046e+09, 6.6121e+09 );
		vec3 xyz = val * sqrt( 2.0 * PI * var ) * cos( pos * phase + shift ) * exp( - pow2( phase ) * var );
		xyz.x += 9.7470e-14 * sqrt( 2.0 * PI * 4.5282e+09 ) * cos( 2.2399e+06 * phase + shift[ 0 ] ) * exp( - 4.5282e+09 * pow2( phase ) );
		xyz /= 1.0685e-7;
		vec3 rgb = XYZ_TO_REC709 * xyz;
		return rgb;
	}
	vec3 evalIridescence( float outsideIOR, float eta2, float cosTheta1, float thinFilmThickness, vec3 baseF0 ) {
		vec3 I;
		float iridescenceIOR = mix( outsideIOR, eta2, smoothstep( 0.0, 0.03, thinFilmThickness ) );
		float sinTheta2Sq = pow2( outsideIOR / iridescenceIOR ) * ( 1.0 - pow2( cosTheta1 ) );
		float cosTheta2Sq = 1.0 - sinTheta2Sq;
		if ( cosTheta2Sq < 0.0 ) {
			return vec3( 1.0 );
		}
		float cosTheta2 = sqrt( cosTheta2Sq );
		float R0 = IorToFresnel0( iridescenceIOR, outsideIOR );
		float R12 = F_Schlick( R0, 1.0, cosTheta1 );
		float T121 = 1.0 - R12;
		float phi12 = 0.0;
		if ( iridescenceIOR < outsideIOR ) phi12 = PI;
		float phi21 = PI - phi12;
		vec3 baseIOR = Fresnel0ToIor( clamp( baseF0, 0.0, 0.9999 ) );		vec3 R1 = IorToFresnel0( baseIOR, iridescenceIOR );
		vec3 R23 = F_Schlick( R1, 1.0, cosTheta2 );
		vec3 phi23 = vec3( 0.0 );
		if ( baseIOR[ 0 ] < iridescenceIOR ) phi23[ 0 ] = PI;
		if ( baseIOR[ 1 ] < iridescenceIOR ) phi23[ 1 ] = PI;
		if ( baseIOR[ 2 ] < iridescenceIOR ) phi23[ 2 ] = PI;
		float OPD = 2.0 * iridescenceIOR * thinFilmThickness * cosTheta2;
		vec3 phi = vec3( phi21 ) + phi23;
		vec3 R123 = clamp( R12 * R23, 1e-5, 0.9999 );
		vec3 r123 = sqrt( R123 );
		vec3 Rs = pow2( T121 ) * R23 / ( vec3( 1.0 ) - R123 );
		vec3 C0 = R12 + Rs;
		I = C0;
		vec3 Cm = Rs - T121;
		for ( int m = 1; m <= 2; ++ m ) {
			Cm *= r123;
			vec3 Sm = 2.0 * evalSensitivity( float( m ) * OPD, float( m ) * phi );
			I += Cm * Sm;
		}
		return max( I, vec3( 0.0 ) );
	}
#endif`,bumpmap_pars_fragment:`#ifdef USE_BUMPMAP
	uniform sampler2D bumpMap;
	uniform float bumpScale;
	vec2 dHdxy_fwd() {
		vec2 dSTdx = dFdx( vBumpMapUv );
		vec2 dSTdy = dFdy( vBumpMapUv );
		float Hll = bumpScale * texture2D( bumpMap, vBumpMapUv ).x;
		float dBx = bumpScale * texture2D( bumpMap, vBumpMapUv + dSTdx ).x - Hll;
		float dBy = bumpScale * texture2D( bumpMap, vBumpMapUv + dSTdy ).x - Hll;
		return vec2( dBx, dBy );
	}
	vec3 perturbNormalArb( vec3 surf_pos, vec3 surf_norm, vec2 dHdxy, float faceDirection ) {
		vec3 vSigmaX = normalize( dFdx( surf_pos.xyz ) );
		vec3 vSigmaY = normalize( dFdy( surf_pos.xyz ) );
		vec3 vN = surf_norm;
		vec3 R1 = cross( vSigmaY, vN );
		vec3 R2 = cross( vN, vSigmaX );
		float fDet = dot( vSigmaX, R1 ) * faceDirection;
		vec3 vGrad = sign( fDet ) * ( dHdxy.x * R1 + dHdxy.y * R2 );
		return normalize( abs( fDet ) * surf_norm - vGrad );
	}
#endif`,clipping_planes_fragment:`#if NUM_CLIPPING_PLANES > 0
	vec4 plane;
	#ifdef ALPHA_TO_COVERAGE
		float distanceToPlane, distanceGradient;
		float clipOpacity = 1.0;
		#pragma unroll_loop_start
		for ( int i = 0; i < UNION_CLIPPING_PLANES; i ++ ) {
			plane = clippingPlanes[ i ];
			distanceToPlane = - dot( vClipPosition, plane.xyz ) + plane.w;
			distanceGradient = fwidth( distanceToPlane ) / 2.0;
			clipOpacity *= smoothstep( - distanceGradient, distanceGradient, distanceToPlane );
			if ( clipOpacity == 0.0 ) discard;
		}
		#pragma unroll_loop_end
		#if UNION_CLIPPING_PLANES < NUM_CLIPPING_PLANES
			float unionClipOpacity = 1.0;
			#pragma unroll_loop_start
			for ( int i = UNION_CLIPPING_PLANES; i < NUM_CLIPPING_PLANES; i ++ ) {
				plane = clippingPlanes[ i ];
				distanceToPlane = - dot( vClipPosition, plane.xyz ) + plane.w;
				distanceGradient = fwidth( distanceToPlane ) / 2.0;
				unionClipOpacity *= 1.0 - smoothstep( - distanceGradient, distanceGradient, distanceToPlane );
			}
			#pragma unroll_loop_end
			clipOpacity *= 1.0 - unionClipOpacity;
		#endif
		diffuseColor.a *= clipOpacity;
		if ( diffuseColor.a == 0.0 ) discard;
	#else
		#pragma unroll_loop_start
		for ( int i = 0; i < UNION_CLIPPING_PLANES; i ++ ) {
			plane = clippingPlanes[ i ];
			if ( dot( vClipPosition, plane.xyz ) > plane.w ) discard;
		}
		#pragma unroll_loop_end
		#if UNION_CLIPPING_PLANES < NUM_CLIPPING_PLANES
			bool clipped = true;
			#pragma unroll_loop_start
			for ( int i = UNION_CLIPPING_PLANES; i < NUM_CLIPPING_PLANES; i ++ ) {
				plane = clippingPlanes[ i ];
				clipped = ( dot( vClipPosition, plane.xyz ) > plane.w ) && clipped;
			}
			#pragma unroll_loop_end
			if ( clipped ) discard;
		#endif
	#endif
#endif`,clipping_planes_pars_fragment:`#if NUM_CLIPPING_PLANES > 0
	varying vec3 vClipPosition;
	uniform vec4 clippingPlanes[ NUM_CLIPPING_PLANES ];
#endif`,clipping_planes_pars_vertex:`#if NUM_CLIPPING_PLANES > 0
	varying vec3 vClipPosition;
#endif`,clipping_planes_vertex:`#if NUM_CLIPPING_PLANES > 0
	vClipPosition = - mvPosition.xyz;
#endif`,color_fragment:`#if defined( USE_COLOR ) || defined( USE_COLOR_ALPHA )
	diffuseColor *= vColor;
#endif`,color_pars_fragment:`#if defined( USE_COLOR ) || defined( USE_COLOR_ALPHA )
	varying vec4 vColor;
#endif`,color_pars_vertex:`#if defined( USE_COLOR ) || defined( USE_COLOR_ALPHA ) || defined( USE_INSTANCING_COLOR ) || defined( USE_BATCHING_COLOR )
	varying vec4 vColor;
#endif`,color_vertex:`#if defined( USE_COLOR ) || defined( USE_COLOR_ALPHA ) || defined( USE_INSTANCING_COLOR ) || defined( USE_BATCHING_COLOR )
	vColor = vec4( 1.0 );
#endif
#ifdef USE_COLOR_ALPHA
	vColor *= color;
#elif defined( USE_COLOR )
	vColor.rgb *= color;
#endif
#ifdef USE_INSTANCING_COLOR
	vColor.rgb *= instanceColor.rgb;
#endif
#ifdef USE_BATCHING_COLOR
	vColor *= getBatchingColor( getIndirectIndex( gl_DrawID ) );
#endif`,common:`#define PI 3.141592653589793
#define PI2 6.283185307179586
#define PI_HALF 1.5707963267948966
#define RECIPROCAL_PI 0.3183098861837907
#define RECIPROCAL_PI2 0.15915494309189535
#define EPSILON 1e-6
#ifndef saturate
#define saturate( a ) clamp( a, 0.0, 1.0 )
#endif
#define whiteComplement( a ) ( 1.0 - saturate( a ) )
float pow2( const in float x ) { return x*x; }
vec3 pow2( const in vec3 x ) { return x*x; }
float pow3( const in float x ) { return x*x*x; }
float pow4( const in float x ) { float x2 = x*x; return x2*x2; }
float max3( const in vec3 v ) { return max( max( v.x, v.y ), v.z ); }
float average( const in vec3 v ) { return dot( v, vec3( 0.3333333 ) ); }
highp float rand( const in vec2 uv ) {
	const highp float a = 12.9898, b = 78.233, c = 43758.5453;
	highp float dt = dot( uv.xy, vec2( a,b ) ), sn = mod( dt, PI );
	return fract( sin( sn ) * c );
}
#ifdef HIGH_PRECISION
	float precisionSafeLength( vec3 v ) { return length( v ); }
#else
	float precisionSafeLength( vec3 v ) {
		float maxComponent = max3( abs( v ) );
		return length( v / maxComponent ) * maxComponent;
	}
#endif
struct IncidentLight {
	vec3 color;
	vec3 direction;
	bool visible;
};
struct ReflectedLight {
	vec3 directDiffuse;
	vec3 directSpecular;
	vec3 indirectDiffuse;
	vec3 indirectSpecular;
};
#ifdef USE_ALPHAHASH
	varying vec3 vPosition;
#endif
vec3 transformDirection( in vec3 dir, in mat4 matrix ) {
	return normalize( ( matrix * vec4( dir, 0.0 ) ).xyz );
}
#define inverseTransformDirection transformDirectionByInverseViewMatrix
vec3 transformNormalByInverseViewMatrix( in vec3 normal, in mat4 viewMatrix ) {
	return normalize( ( vec4( normal, 0.0 ) * viewMatrix ).xyz );
}
vec3 transformDirectionByInverseViewMatrix( in vec3 dir, in mat4 viewMatrix ) {
	return normalize( ( vec4( dir, 0.0 ) * viewMatrix ).xyz );
}
bool isPerspectiveMatrix( mat4 m ) {
	return m[ 2 ][ 3 ] == - 1.0;
}
vec2 equirectUv( in vec3 dir ) {
	float u = atan( dir.z, dir.x ) * RECIPROCAL_PI2 + 0.5;
	float v = asin( clamp( dir.y, - 1.0, 1.0 ) ) * RECIPROCAL_PI + 0.5;
	return vec2( u, v );
}
vec3 BRDF_Lambert( const in vec3 diffuseColor ) {
	return RECIPROCAL_PI * diffuseColor;
}
vec3 F_Schlick( const in vec3 f0, const in float f90, const in float dotVH ) {
	float fresnel = exp2( ( - 5.55473 * dotVH - 6.98316 ) * dotVH );
	return f0 * ( 1.0 - fresnel ) + ( f90 * fresnel );
}
float F_Schlick( const in float f0, const in float f90, const in float dotVH ) {
	float fresnel = exp2( ( - 5.55473 * dotVH - 6.98316 ) * dotVH );
	return f0 * ( 1.0 - fresnel ) + ( f90 * fresnel );
} // validated`,defaultnormal_vertex:`vec3 transformedNormal = objectNormal;
#ifdef USE_TANGENT
	vec3 transformedTangent = objectTangent;
#endif
#ifdef USE_BATCHING
	mat3 bm = mat3( batchingMatrix );
	transformedNormal /= vec3( dot( bm[ 0 ], bm[ 0 ] ), dot( bm[ 1 ], bm[ 1 ] ), dot( bm[ 2 ], bm[ 2 ] ) );
	transformedNormal = bm * transformedNormal;
	#ifdef USE_TANGENT
		transformedTangent = bm * transformedTangent;
	#endif
#endif
#ifdef USE_INSTANCING
	mat3 im = mat3( instanceMatrix );
	transformedNormal /= vec3( dot( im[ 0 ], im[ 0 ] ), dot( im[ 1 ], im[ 1 ] ), dot( im[ 2 ], im[ 2 ] ) );
	transformedNormal = im * transformedNormal;
	#ifdef USE_TANGENT
		transformedTangent = im * transformedTangent;
	#endif
#endif
transformedNormal = normalMatrix * transformedNormal;
#ifdef FLIP_SIDED
	transformedNormal = - transformedNormal;
#endif
#ifdef USE_TANGENT
	transformedTangent = ( modelViewMatrix * vec4( transformedTangent, 0.0 ) ).xyz;
#endif`,displacementmap_pars_vertex:`#ifdef USE_DISPLACEMENTMAP
	uniform sampler2D displacementMap;
	uniform float displacementScale;
	uniform float displacementBias;
#endif`,displacementmap_vertex:`#ifdef USE_DISPLACEMENTMAP
	transformed += normalize( objectNormal ) * ( texture2D( displacementMap, vDisplacementMapUv ).x * displacementScale + displacementBias );
#endif`,emissivemap_fragment:`#ifdef USE_EMISSIVEMAP
	vec4 emissiveColor = texture2D( emissiveMap, vEmissiveMapUv );
	#ifdef DECODE_VIDEO_TEXTURE_EMISSIVE
		emissiveColor = sRGBTransferEOTF( emissiveColor );
	#endif
	totalEmissiveRadiance *= emissiveColor.rgb;
#endif`,emissivemap_pars_fragment:`#ifdef USE_EMISSIVEMAP
	uniform sampler2D emissiveMap;
#endif`,colorspace_fragment:`gl_FragColor = linearToOutputTexel( gl_FragColor );`,colorspace_pars_fragment:`vec4 LinearTransferOETF( in vec4 value ) {
	return value;
}
vec4 sRGBTransferEOTF( in vec4 value ) {
	return vec4( mix( pow( value.rgb * 0.9478672986 + vec3( 0.0521327014 ), vec3( 2.4 ) ), value.rgb * 0.0773993808, vec3( lessThanEqual( value.rgb, vec3( 0.04045 ) ) ) ), value.a );
}
vec4 sRGBTransferOETF( in vec4 value ) {
	return vec4( mix( pow( value.rgb, vec3( 0.41666 ) ) * 1.055 - vec3( 0.055 ), value.rgb * 12.92, vec3( lessThanEqual( value.rgb, vec3( 0.0031308 ) ) ) ), value.a );
}`,envmap_fragment:`#ifdef USE_ENVMAP
	#ifdef ENV_WORLDPOS
		vec3 cameraToFrag;
		if ( isOrthographic ) {
			cameraToFrag = normalize( vec3( - viewMatrix[ 0 ][ 2 ], - viewMatrix[ 1 ][ 2 ], - viewMatrix[ 2 ][ 2 ] ) );
		} else {
			cameraToFrag = normalize( vWorldPosition - cameraPosition );
		}
		vec3 worldNormal = transformNormalByInverseViewMatrix( normal, viewMatrix );
		#ifdef ENVMAP_MODE_REFLECTION
			vec3 reflectVec = reflect( cameraToFrag, worldNormal );
		#else
			vec3 reflectVec = refract( cameraToFrag, worldNormal, refractionRatio );
		#endif
	#else
		vec3 reflectVec = vReflect;
	#endif
	#ifdef ENVMAP_TYPE_CUBE
		vec4 envColor = textureCube( envMap, envMapRotation * reflectVec );
		#ifdef ENVMAP_BLENDING_MULTIPLY
			outgoingLight = mix( outgoingLight, outgoingLight * envColor.xyz, specularStrength * reflectivity );
		#elif defined( ENVMAP_BLENDING_MIX )
			outgoingLight = mix( outgoingLight, envColor.xyz, specularStrength * reflectivity );
		#elif defined( ENVMAP_BLENDING_ADD )
			outgoingLight += envColor.xyz * specularStrength * reflectivity;
		#endif
	#endif
#endif`,envmap_common_pars_fragment:`#ifdef USE_ENVMAP
	uniform float envMapIntensity;
	uniform mat3 envMapRotation;
	uniform samplerCube envMap;
	#ifdef ENVMAP_TYPE_PMREM
		float roughnessToMip( const in float roughness ) {
			float r = clamp( roughness, 0.0, 1.0 );
			return ENVMAP_MAX_LOD * r * ( 2.0 - r );
		}
	#endif
#endif`,envmap_pars_fragment:`#ifdef USE_ENVMAP
	uniform float reflectivity;
	#if defined( USE_BUMPMAP ) || defined( USE_NORMALMAP ) || defined( PHONG ) || defined( LAMBERT )
		#define ENV_WORLDPOS
	#endif
	#ifdef ENV_WORLDPOS
		varying vec3 vWorldPosition;
		uniform float refractionRatio;
	#else
		varying vec3 vReflect;
	#endif
#endif`,envmap_pars_vertex:`#ifdef USE_ENVMAP
	#if defined( USE_BUMPMAP ) || defined( USE_NORMALMAP ) || defined( PHONG ) || defined( LAMBERT )
		#define ENV_WORLDPOS
	#endif
	#ifdef ENV_WORLDPOS
		
		varying vec3 vWorldPosition;
	#else
		varying vec3 vReflect;
		uniform float refractionRatio;
	#endif
#endif`,envmap_physical_pars_fragment:`#ifdef USE_ENVMAP
	vec3 getIBLIrradiance( const in vec3 normal ) {
		#ifdef ENVMAP_TYPE_PMREM
			vec3 worldNormal = transformNormalByInverseViewMatrix( normal, viewMatrix );
			vec4 envMapColor = textureLod( envMap, envMapRotation * worldNormal, ENVMAP_MAX_LOD );
			return PI * envMapColor.rgb * envMapIntensity;
		#else
			return vec3( 0.0 );
		#endif
	}
	vec3 getIBLRadiance( const in vec3 viewDir, const in vec3 normal, const in float roughness ) {
		#ifdef ENVMAP_TYPE_PMREM
			vec3 reflectVec = reflect( - viewDir, normal );
			reflectVec = normalize( mix( reflectVec, normal, pow4( roughness ) ) );
			reflectVec = transformDirectionByInverseViewMatrix( reflectVec, viewMatrix );
			vec4 envMapColor = textureLod( envMap, envMapRotation * reflectVec, roughnessToMip( roughness ) );
			return envMapColor.rgb * envMapIntensity;
		#else
			return vec3( 0.0 );
		#endif
	}
	#ifdef USE_RETROREFLECTION
		vec3 getIBLRetroRadiance( const in vec3 viewDir, const in vec3 normal, const in float roughness ) {
			#ifdef ENVMAP_TYPE_PMREM
				vec3 retroVec = normalize( mix( viewDir, normal, pow4( roughness ) ) );
				retroVec = transformDirectionByInverseViewMatrix( retroVec, viewMatrix );
				vec4 envMapColor = textureLod( envMap, envMapRotation * retroVec, roughnessToMip( roughness ) );
				return envMapColor.rgb * envMapIntensity;
			#else
				return vec3( 0.0 );
			#endif
		}
	#endif
	#ifdef USE_ANISOTROPY
		vec3 getIBLAnisotropyRadiance( const in vec3 viewDir, const in vec3 normal, const in float roughness, const in vec3 bitangent, const in float anisotropy ) {
			#ifdef ENVMAP_TYPE_PMREM
				vec3 bentNormal = cross( bitangent, viewDir );
				bentNormal = normalize( cross( bentNormal, bitangent ) );
				bentNormal = normalize( mix( bentNormal, normal, pow2( pow2( 1.0 - anisotropy * ( 1.0 - roughness ) ) ) ) );
				return getIBLRadiance( viewDir, bentNormal, roughness );
			#else
				return vec3( 0.0 );
			#endif
		}
		#ifdef USE_RETROREFLECTION
			vec3 getIBLAnisotropyRetroRadiance( const in vec3 viewDir, const in vec3 normal, const in float roughness, const in vec3 bitangent, const in float anisotropy ) {
				#ifdef ENVMAP_TYPE_PMREM
					vec3 bentNormal = cross( bitangent, viewDir );
					bentNormal = normalize( cross( bentNormal, bitangent ) );
					bentNormal = normalize( mix( bentNormal, normal, pow2( pow2( 1.0 - anisotropy * ( 1.0 - roughness ) ) ) ) );
					return getIBLRetroRadiance( viewDir, bentNormal, roughness );
				#else
					return vec3( 0.0 );
				#endif
			}
		#endif
	#endif
#endif`,envmap_vertex:`#ifdef USE_ENVMAP
	#ifdef ENV_WORLDPOS
		vWorldPosition = worldPosition.xyz;
	#else
		vec3 cameraToVertex;
		if ( isOrthographic ) {
			cameraToVertex = normalize( vec3( - viewMatrix[ 0 ][ 2 ], - viewMatrix[ 1 ][ 2 ], - viewMatrix[ 2 ][ 2 ] ) );
		} else {
			cameraToVertex = normalize( worldPosition.xyz - cameraPosition );
		}
		vec3 worldNormal = transformNormalByInverseViewMatrix( transformedNormal, viewMatrix );
		#ifdef ENVMAP_MODE_REFLECTION
			vReflect = reflect( cameraToVertex, worldNormal );
		#else
			vReflect = refract( cameraToVertex, worldNormal, refractionRatio );
		#endif
	#endif
#endif`,fog_vertex:`#ifdef USE_FOG
	vFogDepth = - mvPosition.z;
#endif`,fog_pars_vertex:`#ifdef USE_FOG
	varying float vFogDepth;
#endif`,fog_fragment:`#ifdef USE_FOG
	#ifdef FOG_EXP2
		float fogFactor = 1.0 - exp( - fogDensity * fogDensity * vFogDepth * vFogDepth );
	#else
		float fogFactor = smoothstep( fogNear, fogFar, vFogDepth );
	#endif
	gl_FragColor.rgb = mix( gl_FragColor.rgb, fogColor, fogFactor );
#endif`,fog_pars_fragment:`#ifdef USE_FOG
	uniform vec3 fogColor;
	varying float vFogDepth;
	#ifdef FOG_EXP2
		uniform float fogDensity;
	#else
		uniform float fogNear;
		uniform float fogFar;
	#endif
#endif`,gradientmap_pars_fragment:`#ifdef USE_GRADIENTMAP
	uniform sampler2D gradientMap;
#endif
vec3 getGradientIrradiance( vec3 normal, vec3 lightDirection ) {
	float dotNL = dot( normal, lightDirection );
	vec2 coord = vec2( dotNL * 0.5 + 0.5, 0.0 );
	#ifdef USE_GRADIENTMAP
		return vec3( texture2D( gradientMap, coord ).r );
	#else
		vec2 fw = fwidth( coord ) * 0.5;
		return mix( vec3( 0.7 ), vec3( 1.0 ), smoothstep( 0.7 - fw.x, 0.7 + fw.x, coord.x ) );
	#endif
}`,lightmap_pars_fragment:`#ifdef USE_LIGHTMAP
	uniform sampler2D lightMap;
	uniform float lightMapIntensity;
#endif`,lights_lambert_fragment:`LambertMaterial material;
material.diffuseColor = diffuseColor.rgb;
material.specularStrength = specularStrength;`,lights_lambert_pars_fragment:`varying vec3 vViewPosition;
struct LambertMaterial {
	vec3 diffuseColor;
	float specularStrength;
};
void RE_Direct_Lambert( const in IncidentLight directLight, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in LambertMaterial material, inout ReflectedLight reflectedLight ) {
	float dotNL = saturate( dot( geometryNormal, directLight.direction ) );
	vec3 irradiance = dotNL * directLight.color;
	reflectedLight.directDiffuse += irradiance * BRDF_Lambert( material.diffuseColor );
}
void RE_IndirectDiffuse_Lambert( const in vec3 irradiance, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in LambertMaterial material, inout ReflectedLight reflectedLight ) {
	reflectedLight.indirectDiffuse += irradiance * BRDF_Lambert( material.diffuseColor );
}
#define RE_Direct				RE_Direct_Lambert
#define RE_IndirectDiffuse		RE_IndirectDiffuse_Lambert`,lights_pars_begin:`uniform bool receiveShadow;
uniform vec3 ambientLightColor;
#if defined( USE_LIGHT_PROBES )
	uniform vec3 lightProbe[ 9 ];
#endif
vec3 shGetIrradianceAt( in vec3 normal, in vec3 shCoefficients[ 9 ] ) {
	float x = normal.x, y = normal.y, z = normal.z;
	vec3 result = shCoefficients[ 0 ] * 0.886227;
	result += shCoefficients[ 1 ] * 2.0 * 0.511664 * y;
	result += shCoefficients[ 2 ] * 2.0 * 0.511664 * z;
	result += shCoefficients[ 3 ] * 2.0 * 0.511664 * x;
	result += shCoefficients[ 4 ] * 2.0 * 0.429043 * x * y;
	result += shCoefficients[ 5 ] * 2.0 * 0.429043 * y * z;
	result += shCoefficients[ 6 ] * ( 0.743125 * z * z - 0.247708 );
	result += shCoefficients[ 7 ] * 2.0 * 0.429043 * x * z;
	result += shCoefficients[ 8 ] * 0.429043 * ( x * x - y * y );
	return result;
}
vec3 getLightProbeIrradiance( const in vec3 lightProbe[ 9 ], const in vec3 normal ) {
	vec3 worldNormal = transformNormalByInverseViewMatrix( normal, viewMatrix );
	vec3 irradiance = shGetIrradianceAt( worldNormal, lightProbe );
	return irradiance;
}
vec3 getAmbientLightIrradiance( const in vec3 ambientLightColor ) {
	vec3 irradiance = ambientLightColor;
	return irradiance;
}
float getDistanceAttenuation( const in float lightDistance, const in float cutoffDistance, const in float decayExponent ) {
	float distanceFalloff = 1.0 / max( pow( lightDistance, decayExponent ), 0.01 );
	if ( cutoffDistance > 0.0 ) {
		distanceFalloff *= pow2( saturate( 1.0 - pow4( lightDistance / cutoffDistance ) ) );
	}
	return distanceFalloff;
}
float getSpotAttenuation( const in float coneCosine, const in float penumbraCosine, const in float angleCosine ) {
	return smoothstep( coneCosine, penumbraCosine, angleCosine );
}
#if NUM_SUN_LIGHTS > 0
	struct SunLight {
		vec3 direction;
		vec3 color;
	};
	uniform SunLight sunLights[ NUM_SUN_LIGHTS ];
	void getSunLightInfo( const in SunLight sunLight, out IncidentLight light ) {
		light.color = sunLight.color;
		light.direction = sunLight.direction;
		light.visible = true;
	}
#endif
#if NUM_DIR_LIGHTS > 0
	struct DirectionalLight {
		vec3 direction;
		vec3 color;
	};
	uniform DirectionalLight directionalLights[ NUM_DIR_LIGHTS ];
	void getDirectionalLightInfo( const in DirectionalLight directionalLight, out IncidentLight light ) {
		light.color = directionalLight.color;
		light.direction = directionalLight.direction;
		light.visible = true;
	}
#endif
#if NUM_POINT_LIGHTS > 0
	struct PointLight {
		vec3 position;
		vec3 color;
		float distance;
		float decay;
	};
	uniform PointLight pointLights[ NUM_POINT_LIGHTS ];
	void getPointLightInfo( const in PointLight pointLight, const in vec3 geometryPosition, out IncidentLight light ) {
		vec3 lVector = pointLight.position - geometryPosition;
		light.direction = normalize( lVector );
		float lightDistance = length( lVector );
		light.color = pointLight.color;
		light.color *= getDistanceAttenuation( lightDistance, pointLight.distance, pointLight.decay );
		light.visible = ( light.color != vec3( 0.0 ) );
	}
#endif
#if NUM_SPOT_LIGHTS > 0
	struct SpotLight {
		vec3 position;
		vec3 direction;
		vec3 color;
		float distance;
		float decay;
		float coneCos;
		float penumbraCos;
	};
	uniform SpotLight spotLights[ NUM_SPOT_LIGHTS ];
	void getSpotLightInfo( const in SpotLight spotLight, const in vec3 geometryPosition, out IncidentLight light ) {
		vec3 lVector = spotLight.position - geometryPosition;
		light.direction = normalize( lVector );
		float angleCos = dot( light.direction, spotLight.direction );
		float spotAttenuation = getSpotAttenuation( spotLight.coneCos, spotLight.penumbraCos, angleCos );
		if ( spotAttenuation > 0.0 ) {
			float lightDistance = length( lVector );
			light.color = spotLight.color * spotAttenuation;
			light.color *= getDistanceAttenuation( lightDistance, spotLight.distance, spotLight.decay );
			light.visible = ( light.color != vec3( 0.0 ) );
		} else {
			light.color = vec3( 0.0 );
			light.visible = false;
		}
	}
#endif
#if NUM_RECT_AREA_LIGHTS > 0
	struct RectAreaLight {
		vec3 color;
		vec3 position;
		vec3 halfWidth;
		vec3 halfHeight;
	};
	uniform sampler2D ltc_1;	uniform sampler2D ltc_2;
	uniform RectAreaLight rectAreaLights[ NUM_RECT_AREA_LIGHTS ];
#endif
#if NUM_HEMI_LIGHTS > 0
	struct HemisphereLight {
		vec3 direction;
		vec3 skyColor;
		vec3 groundColor;
	};
	uniform HemisphereLight hemisphereLights[ NUM_HEMI_LIGHTS ];
	vec3 getHemisphereLightIrradiance( const in HemisphereLight hemiLight, const in vec3 normal ) {
		float dotNL = dot( normal, hemiLight.direction );
		float hemiDiffuseWeight = 0.5 * dotNL + 0.5;
		vec3 irradiance = mix( hemiLight.groundColor, hemiLight.skyColor, hemiDiffuseWeight );
		return irradiance;
	}
#endif
#include <lightprobes_pars_fragment>`,lights_toon_fragment:`ToonMaterial material;
material.diffuseColor = diffuseColor.rgb;`,lights_toon_pars_fragment:`varying vec3 vViewPosition;
struct ToonMaterial {
	vec3 diffuseColor;
};
void RE_Direct_Toon( const in IncidentLight directLight, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in ToonMaterial material, inout ReflectedLight reflectedLight ) {
	vec3 irradiance = getGradientIrradiance( geometryNormal, directLight.direction ) * directLight.color;
	reflectedLight.directDiffuse += irradiance * BRDF_Lambert( material.diffuseColor );
}
void RE_IndirectDiffuse_Toon( const in vec3 irradiance, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in ToonMaterial material, inout ReflectedLight reflectedLight ) {
	reflectedLight.indirectDiffuse += irradiance * BRDF_Lambert( material.diffuseColor );
}
#define RE_Direct				RE_Direct_Toon
#define RE_IndirectDiffuse		RE_IndirectDiffuse_Toon`,lights_phong_fragment:`BlinnPhongMaterial material;
material.diffuseColor = diffuseColor.rgb;
material.specularColor = specular;
material.specularShininess = shininess;
material.specularStrength = specularStrength;`,lights_phong_pars_fragment:`varying vec3 vViewPosition;
struct BlinnPhongMaterial {
	vec3 diffuseColor;
	vec3 specularColor;
	float specularShininess;
	float specularStrength;
};
void RE_Direct_BlinnPhong( const in IncidentLight directLight, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in BlinnPhongMaterial material, inout ReflectedLight reflectedLight ) {
	float dotNL = saturate( dot( geometryNormal, directLight.direction ) );
	vec3 irradiance = dotNL * directLight.color;
	reflectedLight.directDiffuse += irradiance * BRDF_Lambert( material.diffuseColor );
	reflectedLight.directSpecular += irradiance * BRDF_BlinnPhong( directLight.direction, geometryViewDir, geometryNormal, material.specularColor, material.specularShininess ) * material.specularStrength;
}
void RE_IndirectDiffuse_BlinnPhong( const in vec3 irradiance, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in BlinnPhongMaterial material, inout ReflectedLight reflectedLight ) {
	reflectedLight.indirectDiffuse += irradiance * BRDF_Lambert( material.diffuseColor );
}
#define RE_Direct				RE_Direct_BlinnPhong
#define RE_IndirectDiffuse		RE_IndirectDiffuse_BlinnPhong`,lights_physical_fragment:`PhysicalMaterial material;
material.diffuseColor = diffuseColor.rgb;
material.diffuseContribution = diffuseColor.rgb * ( 1.0 - metalnessFactor );
material.metalness = metalnessFactor;
vec3 dxy = max( abs( dFdx( nonPerturbedNormal ) ), abs( dFdy( nonPerturbedNormal ) ) );
float geometryRoughness = max( max( dxy.x, dxy.y ), dxy.z );
material.roughness = max( roughnessFactor, 0.045 );
material.roughness += geometryRoughness;
material.roughness = min( material.roughness, 1.0 );
#ifdef USE_DIFFUSE_ROUGHNESS
	float diffuseRoughnessFactor = diffuseRoughness;
	#ifdef USE_DIFFUSE_ROUGHNESSMAP
		diffuseRoughnessFactor *= texture2D( diffuseRoughnessMap, vDiffuseRoughnessMapUv ).r;
	#endif
	material.diffuseRoughness = saturate( diffuseRoughnessFactor );
#endif
#ifdef IOR
	material.ior = ior;
	#ifdef USE_SPECULAR
		float specularIntensityFactor = specularIntensity;
		vec3 specularColorFactor = specularColor;
		#ifdef USE_SPECULAR_COLORMAP
			specularColorFactor *= texture2D( specularColorMap, vSpecularColorMapUv ).rgb;
		#endif
		#ifdef USE_SPECULAR_INTENSITYMAP
			specularIntensityFactor *= texture2D( specularIntensityMap, vSpecularIntensityMapUv ).a;
		#endif
		material.specularF90 = mix( specularIntensityFactor, 1.0, metalnessFactor );
	#else
		float specularIntensityFactor = 1.0;
		vec3 specularColorFactor = vec3( 1.0 );
		material.specularF90 = 1.0;
	#endif
	material.specularColor = min( pow2( ( material.ior - 1.0 ) / ( material.ior + 1.0 ) ) * specularColorFactor, vec3( 1.0 ) ) * specularIntensityFactor;
	material.specularColorBlended = mix( material.specularColor, diffuseColor.rgb, metalnessFactor );
#else
	material.specularColor = vec3( 0.04 );
	material.specularColorBlended = mix( material.specularColor, diffuseColor.rgb, metalnessFactor );
	material.specularF90 = 1.0;
#endif
#ifdef USE_CLEARCOAT
	material.clearcoat = clearcoat;
	material.clearcoatRoughness = clearcoatRoughness;
	material.clearcoatF0 = vec3( 0.04 );
	material.clearcoatF90 = 1.0;
	#ifdef USE_CLEARCOATMAP
		material.clearcoat *= texture2D( clearcoatMap, vClearcoatMapUv ).x;
	#endif
	#ifdef USE_CLEARCOAT_ROUGHNESSMAP
		material.clearcoatRoughness *= texture2D( clearcoatRoughnessMap, vClearcoatRoughnessMapUv ).y;
	#endif
	material.clearcoat = saturate( material.clearcoat );	material.clearcoatRoughness = max( material.clearcoatRoughness, 0.045 );
	material.clearcoatRoughness += geometryRoughness;
	material.clearcoatRoughness = min( material.clearcoatRoughness, 1.0 );
#endif
#ifdef USE_DISPERSION
	material.dispersion = dispersion;
#endif
#ifdef USE_RETROREFLECTION
	material.retroreflectivity = retroreflectivity;
#endif
#ifdef USE_IRIDESCENCE
	material.iridescence = iridescence;
	material.iridescenceIOR = iridescenceIOR;
	#ifdef USE_IRIDESCENCEMAP
		material.iridescence *= texture2D( iridescenceMap, vIridescenceMapUv ).r;
	#endif
	#ifdef USE_IRIDESCENCE_THICKNESSMAP
		material.iridescenceThickness = (iridescenceThicknessMaximum - iridescenceThicknessMinimum) * texture2D( iridescenceThicknessMap, vIridescenceThicknessMapUv ).g + iridescenceThicknessMinimum;
	#else
		material.iridescenceThickness = iridescenceThicknessMaximum;
	#endif
#endif
#ifdef USE_SHEEN
	material.sheenColor = sheenColor;
	#ifdef USE_SHEEN_COLORMAP
		material.sheenColor *= texture2D( sheenColorMap, vSheenColorMapUv ).rgb;
	#endif
	material.sheenRoughness = clamp( sheenRoughness, 0.0001, 1.0 );
	#ifdef USE_SHEEN_ROUGHNESSMAP
		material.sheenRoughness *= texture2D( sheenRoughnessMap, vSheenRoughnessMapUv ).a;
	#endif
#endif
#ifdef USE_ANISOTROPY
	#ifdef USE_ANISOTROPYMAP
		mat2 anisotropyMat = mat2( anisotropyVector.x, anisotropyVector.y, - anisotropyVector.y, anisotropyVector.x );
		vec3 anisotropyPolar = texture2D( anisotropyMap, vAnisotropyMapUv ).rgb;
		vec2 anisotropyV = anisotropyMat * normalize( 2.0 * anisotropyPolar.rg - vec2( 1.0 ) ) * anisotropyPolar.b;
	#else
		vec2 anisotropyV = anisotropyVector;
	#endif
	material.anisotropy = length( anisotropyV );
	if( material.anisotropy == 0.0 ) {
		anisotropyV = vec2( 1.0, 0.0 );
	} else {
		anisotropyV /= material.anisotropy;
		material.anisotropy = saturate( material.anisotropy );
	}
	material.alphaT = mix( pow2( material.roughness ), 1.0, pow2( material.anisotropy ) );
	material.anisotropyT = tbn[ 0 ] * anisotropyV.x + tbn[ 1 ] * anisotropyV.y;
	material.anisotropyB = tbn[ 1 ] * anisotropyV.x - tbn[ 0 ] * anisotropyV.y;
#endif`,lights_physical_pars_fragment:`uniform sampler2D dfgLUT;
struct PhysicalMaterial {
	vec3 diffuseColor;
	vec3 diffuseContribution;
	vec3 specularColor;
	vec3 specularColorBlended;
	float roughness;
	float metalness;
	float specularF90;
	float dispersion;
	vec2 dfg;
	vec3 multiScatteringCompensation;
	#ifdef USE_DIFFUSE_ROUGHNESS
		float diffuseRoughness;
	#endif
	#ifdef USE_RETROREFLECTION
		float retroreflectivity;
	#endif
	#ifdef USE_CLEARCOAT
		float clearcoat;
		float clearcoatRoughness;
		vec3 clearcoatF0;
		float clearcoatF90;
	#endif
	#ifdef USE_IRIDESCENCE
		float iridescence;
		float iridescenceIOR;
		float iridescenceThickness;
		vec3 iridescenceFresnel;
		vec3 iridescenceF0Dielectric;
		vec3 iridescenceF0Metallic;
	#endif
	#ifdef USE_SHEEN
		vec3 sheenColor;
		float sheenRoughness;
	#endif
	#ifdef IOR
		float ior;
	#endif
	#ifdef USE_TRANSMISSION
		float transmission;
		float transmissionAlpha;
		float thickness;
		float attenuationDistance;
		vec3 attenuationColor;
	#endif
	#ifdef USE_ANISOTROPY
		float anisotropy;
		float alphaT;
		vec3 anisotropyT;
		vec3 anisotropyB;
	#endif
};
vec3 clearcoatSpecularDirect = vec3( 0.0 );
vec3 clearcoatSpecularIndirect = vec3( 0.0 );
vec3 sheenSpecularDirect = vec3( 0.0 );
vec3 sheenSpecularIndirect = vec3(0.0 );
vec3 Schlick_to_F0( const in vec3 f, const in float f90, const in float dotVH ) {
    float x = clamp( 1.0 - dotVH, 0.0, 1.0 );
    float x2 = x * x;
    float x5 = clamp( x * x2 * x2, 0.0, 0.9999 );
    return ( f - vec3( f90 ) * x5 ) / ( 1.0 - x5 );
}
#ifdef USE_DIFFUSE_ROUGHNESS
	const float EON_EPSILON = 1e-7;
	float FON_DirectionalAlbedo( const in float mu, const in float roughness, const in float A ) {
		float muComp = 1.0 - mu;
		float gOverPi = muComp * ( 0.0571085289 + muComp * ( 0.491881867 + muComp * ( - 0.332181442 + muComp * 0.0714429953 ) ) );
		return A * ( 1.0 + roughness * gOverPi );
	}
	vec3 BRDF_EON( const in vec3 lightDir, const in vec3 viewDir, const in vec3 normal, const in vec3 diffuseColor, const in float roughness ) {
		vec3 rho = saturate( diffuseColor );
		if ( roughness <= EON_EPSILON ) return BRDF_Lambert( rho );
		float dotNL = saturate( dot( normal, lightDir ) );
		float dotNV = saturate( dot( normal, viewDir ) );
		float s = dot( lightDir, viewDir ) - dotNL * dotNV;
		float sOverT = ( s > 0.0 ) ? s / max( max( dotNL, dotNV ), EON_EPSILON ) : s;
		float A = 1.0 / ( 1.0 + ( 0.5 - 2.0 / ( 3.0 * PI ) ) * roughness );
		vec3 singleScatter = rho * RECIPROCAL_PI * A * ( 1.0 + roughness * sOverT );
		float averageAlbedo = A * ( 1.0 + ( 2.0 / 3.0 - 28.0 / ( 15.0 * PI ) ) * roughness );
		float albedoV = FON_DirectionalAlbedo( dotNV, roughness, A );
		float albedoL = FON_DirectionalAlbedo( dotNL, roughness, A );
		vec3 rhoMultiScatter = rho * rho * averageAlbedo / max( vec3( EON_EPSILON ), vec3( 1.0 ) - rho * ( 1.0 - averageAlbedo ) );
		vec3 multiScatter = rhoMultiScatter * RECIPROCAL_PI
			* max( EON_EPSILON, 1.0 - albedoV )
			* max( EON_EPSILON, 1.0 - albedoL )
			/ max( EON_EPSILON, 1.0 - averageAlbedo );
		return singleScatter + multiScatter;
	}
	vec3 EON_DirectionalAlbedo( const in vec3 diffuseColor, const in float roughness, const in float dotNV ) {
		vec3 rho = saturate( diffuseColor );
		if ( roughness <= EON_EPSILON ) return rho;
		float A = 1.0 / ( 1.0 + ( 0.5 - 2.0 / ( 3.0 * PI ) ) * roughness );
		float directionalAlbedo = FON_DirectionalAlbedo( dotNV, roughness, A );
		float averageAlbedo = A * ( 1.0 + ( 2.0 / 3.0 - 28.0 / ( 15.0 * PI ) ) * roughness );
		vec3 rhoMultiScatter = rho * rho * averageAlbedo / max( vec3( EON_EPSILON ), vec3( 1.0 ) - rho * ( 1.0 - averageAlbedo ) );
		return rho * directionalAlbedo + rhoMultiScatter * ( 1.0 - directionalAlbedo );
	}
#endif
float V_GGX_SmithCorrelated( const in float alpha, const in float dotNL, const in float dotNV ) {
	float a2 = pow2( alpha );
	float gv = dotNL * sqrt( a2 + ( 1.0 - a2 ) * pow2( dotNV ) );
	float gl = dotNV * sqrt( a2 + ( 1.0 - a2 ) * pow2( dotNL ) );
	return 0.5 / max( gv + gl, EPSILON );
}
float D_GGX( const in float alpha, const in float dotNH ) {
	float a2 = pow2( alpha );
	float denom = pow2( dotNH ) * ( a2 - 1.0 ) + 1.0;
	return RECIPROCAL_PI * a2 / pow2( denom );
}
#ifdef USE_ANISOTROPY
	float V_GGX_SmithCorrelated_Anisotropic( const in float alphaT, const in float alphaB, const in float dotTV, const in float dotBV, const in float dotTL, const in float dotBL, const in float dotNV, const in float dotNL ) {
		float gv = dotNL * length( vec3( alphaT * dotTV, alphaB * dotBV, dotNV ) );
		float gl = dotNV * length( vec3( alphaT * dotTL, alphaB * dotBL, dotNL ) );
		return 0.5 / max( gv + gl, EPSILON );
	}
	float D_GGX_Anisotropic( const in float alphaT, const in float alphaB, const in float dotNH, const in float dotTH, const in float dotBH ) {
		float a2 = alphaT * alphaB;
		highp vec3 v = vec3( alphaB * dotTH, alphaT * dotBH, a2 * dotNH );
		highp float v2 = dot( v, v );
		float w2 = a2 / v2;
		return RECIPROCAL_PI * a2 * pow2 ( w2 );
	}
#endif
#ifdef USE_CLEARCOAT
	vec3 BRDF_GGX_Clearcoat( const in vec3 lightDir, const in vec3 viewDir, const in vec3 normal, const in PhysicalMaterial material) {
		vec3 f0 = material.clearcoatF0;
		float f90 = material.clearcoatF90;
		float roughness = max( material.clearcoatRoughness, 0.045 );
		float alpha = pow2( roughness );
		vec3 halfDir = normalize( lightDir + viewDir );
		float dotNL = saturate( dot( normal, lightDir ) );
		float dotNV = saturate( dot( normal, viewDir ) );
		float dotNH = saturate( dot( normal, halfDir ) );
		float dotVH = saturate( dot( viewDir, halfDir ) );
		vec3 F = F_Schlick( f0, f90, dotVH );
		float V = V_GGX_SmithCorrelated( alpha, dotNL, dotNV );
		float D = D_GGX( alpha, dotNH );
		return F * ( V * D );
	}
#endif
vec3 BRDF_GGX( const in vec3 lightDir, const in vec3 viewDir, const in vec3 normal, const in PhysicalMaterial material ) {
	vec3 f0 = material.specularColorBlended;
	float f90 = material.specularF90;
	float roughness = max( material.roughness, 0.045 );
	float alpha = pow2( roughness );
	vec3 halfDir = normalize( lightDir + viewDir );
	float dotNL = saturate( dot( normal, lightDir ) );
	float dotNV = saturate( dot( normal, viewDir ) );
	float dotNH = saturate( dot( normal, halfDir ) );
	float dotVH = saturate( dot( viewDir, halfDir ) );
	vec3 F = F_Schlick( f0, f90, dotVH );
	#ifdef USE_IRIDESCENCE
		F = mix( F, material.iridescenceFresnel, material.iridescence );
	#endif
	#ifdef USE_ANISOTROPY
		float dotTL = dot( material.anisotropyT, lightDir );
		float dotTV = dot( material.anisotropyT, viewDir );
		float dotTH = dot( material.anisotropyT, halfDir );
		float dotBL = dot( material.anisotropyB, lightDir );
		float dotBV = dot( material.anisotropyB, viewDir );
		float dotBH = dot( material.anisotropyB, halfDir );
		float alphaT = max( material.alphaT, alpha );
		float V = V_GGX_SmithCorrelated_Anisotropic( alphaT, alpha, dotTV, dotBV, dotTL, dotBL, dotNV, dotNL );
		float D = D_GGX_Anisotropic( alphaT, alpha, dotNH, dotTH, dotBH );
	#else
		float V = V_GGX_SmithCorrelated( alpha, dotNL, dotNV );
		float D = D_GGX( alpha, dotNH );
	#endif
	return F * ( V * D );
}
vec2 LTC_Uv( const in vec3 N, const in vec3 V, const in float roughness ) {
	const float LUT_SIZE = 64.0;
	const float LUT_SCALE = ( LUT_SIZE - 1.0 ) / LUT_SIZE;
	const float LUT_BIAS = 0.5 / LUT_SIZE;
	float dotNV = saturate( dot( N, V ) );
	vec2 uv = vec2( roughness, sqrt( 1.0 - dotNV ) );
	uv = uv * LUT_SCALE + LUT_BIAS;
	return uv;
}
float LTC_ClippedSphereFormFactor( const in vec3 f ) {
	float l = length( f );
	return max( ( l * l + f.z ) / ( l + 1.0 ), 0.0 );
}
vec3 LTC_EdgeVectorFormFactor( const in vec3 v1, const in vec3 v2 ) {
	float x = dot( v1, v2 );
	float y = abs( x );
	float a = 0.8543985 + ( 0.4965155 + 0.0145206 * y ) * y;
	float b = 3.4175940 + ( 4.1616724 + y ) * y;
	float v = a / b;
	float theta_sintheta = ( x > 0.0 ) ? v : 0.5 * inversesqrt( max( 1.0 - x * x, 1e-7 ) ) - v;
	return cross( v1, v2 ) * theta_sintheta;
}
vec3 LTC_Evaluate( const in vec3 N, const in vec3 V, const in vec3 P, const in mat3 mInv, const in vec3 rectCoords[ 4 ] ) {
	vec3 v1 = rectCoords[ 1 ] - rectCoords[ 0 ];
	vec3 v2 = rectCoords[ 3 ] - rectCoords[ 0 ];
	vec3 lightNormal = cross( v1, v2 );
	if( dot( lightNormal, P - rectCoords[ 0 ] ) < 0.0 ) return vec3( 0.0 );
	vec3 T1, T2;
	T1 = normalize( V - N * dot( V, N ) );
	T2 = - cross( N, T1 );
	mat3 mat = mInv * transpose( mat3( T1, T2, N ) );
	vec3 coords[ 4 ];
	coords[ 0 ] = mat * ( rectCoords[ 0 ] - P );
	coords[ 1 ] = mat * ( rectCoords[ 1 ] - P );
	coords[ 2 ] = mat * ( rectCoords[ 2 ] - P );
	coords[ 3 ] = mat * ( rectCoords[ 3 ] - P );
	coords[ 0 ] = normalize( coords[ 0 ] );
	coords[ 1 ] = normalize( coords[ 1 ] );
	coords[ 2 ] = normalize( coords[ 2 ] );
	coords[ 3 ] = normalize( coords[ 3 ] );
	vec3 vectorFormFactor = vec3( 0.0 );
	vectorFormFactor += LTC_EdgeVectorFormFactor( coords[ 0 ], coords[ 1 ] );
	vectorFormFactor += LTC_EdgeVectorFormFactor( coords[ 1 ], coords[ 2 ] );
	vectorFormFactor += LTC_EdgeVectorFormFactor( coords[ 2 ], coords[ 3 ] );
	vectorFormFactor += LTC_EdgeVectorFormFactor( coords[ 3 ], coords[ 0 ] );
	float result = LTC_ClippedSphereFormFactor( vectorFormFactor );
	return vec3( result );
}
#if defined( USE_SHEEN )
float D_Charlie( float roughness, float dotNH ) {
	float alpha = pow2( roughness );
	float invAlpha = 1.0 / alpha;
	float cos2h = dotNH * dotNH;
	float sin2h = max( 1.0 - cos2h, 0.0078125 );
	return ( 2.0 + invAlpha ) * pow( sin2h, invAlpha * 0.5 ) / ( 2.0 * PI );
}
float V_Neubelt( float dotNV, float dotNL ) {
	return saturate( 1.0 / ( 4.0 * ( dotNL + dotNV - dotNL * dotNV ) ) );
}
vec3 BRDF_Sheen( const in vec3 lightDir, const in vec3 viewDir, const in vec3 normal, vec3 sheenColor, const in float sheenRoughness ) {
	vec3 halfDir = normalize( lightDir + viewDir );
	float dotNL = saturate( dot( normal, lightDir ) );
	float dotNV = saturate( dot( normal, viewDir ) );
	float dotNH = saturate( dot( normal, halfDir ) );
	float D = D_Charlie( sheenRoughness, dotNH );
	float V = V_Neubelt( dotNV, dotNL );
	return sheenColor * ( D * V );
}
#endif
float IBLSheenBRDF( const in vec3 normal, const in vec3 viewDir, const in float roughness ) {
	float dotNV = saturate( dot( normal, viewDir ) );
	float r2 = roughness * roughness;
	float rInv = 1.0 / ( roughness + 0.1 );
	float a = -1.9362 + 1.0678 * roughness + 0.4573 * r2 - 0.8469 * rInv;
	float b = -0.6014 + 0.5538 * roughness - 0.4670 * r2 - 0.1255 * rInv;
	float DG = exp( a * dotNV + b );
	return saturate( DG );
}
vec3 EnvironmentBRDF( const in vec3 normal, const in vec3 viewDir, const in vec3 specularColor, const in float specularF90, const in float roughness ) {
	float dotNV = saturate( dot( normal, viewDir ) );
	vec2 fab = texture2D( dfgLUT, vec2( roughness, dotNV ) ).rg;
	return specularColor * fab.x + specularF90 * fab.y;
}
#ifdef USE_IRIDESCENCE
void computeMultiscatteringIridescence( const in vec2 fab, const in vec3 specularColor, const in float specularF90, const in float iridescence, const in vec3 iridescenceF0, inout vec3 singleScatter, inout vec3 multiScatter ) {
#else
void computeMultiscattering( const in vec2 fab, const in vec3 specularColor, const in float specularF90, inout vec3 singleScatter, inout vec3 multiScatter ) {
#endif
	#ifdef USE_IRIDESCENCE
		vec3 Fr = mix( specularColor, iridescenceF0, iridescence );
	#else
		vec3 Fr = specularColor;
	#endif
	vec3 FssEss = Fr * fab.x + specularF90 * fab.y;
	float Ess = fab.x + fab.y;
	float Ems = 1.0 - Ess;
	vec3 Favg = Fr + ( 1.0 - Fr ) * 0.047619;	vec3 Fms = FssEss * Favg / ( 1.0 - Ems * Favg );
	singleScatter += FssEss;
	multiScatter += Fms * Ems;
}
#if NUM_RECT_AREA_LIGHTS > 0
	void RE_Direct_RectArea_Physical( const in RectAreaLight rectAreaLight, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in PhysicalMaterial material, inout ReflectedLight reflectedLight ) {
		vec3 normal = geometryNormal;
		vec3 viewDir = geometryViewDir;
		vec3 position = geometryPosition;
		vec3 lightPos = rectAreaLight.position;
		vec3 halfWidth = rectAreaLight.halfWidth;
		vec3 halfHeight = rectAreaLight.halfHeight;
		vec3 lightColor = rectAreaLight.color;
		float roughness = material.roughness;
		vec3 rectCoords[ 4 ];
		rectCoords[ 0 ] = lightPos + halfWidth - halfHeight;		rectCoords[ 1 ] = lightPos - halfWidth - halfHeight;
		rectCoords[ 2 ] = lightPos - halfWidth + halfHeight;
		rectCoords[ 3 ] = lightPos + halfWidth + halfHeight;
		vec2 uv = LTC_Uv( normal, viewDir, roughness );
		vec4 t1 = texture2D( ltc_1, uv );
		vec4 t2 = texture2D( ltc_2, uv );
		mat3 mInv = mat3(
			vec3( t1.x, 0, t1.y ),
			vec3(    0, 1,    0 ),
			vec3( t1.z, 0, t1.w )
		);
		vec3 fresnel = ( material.specularColorBlended * t2.x + ( material.specularF90 - material.specularColorBlended ) * t2.y );
		reflectedLight.directSpecular += lightColor * fresnel * LTC_Evaluate( normal, viewDir, position, mInv, rectCoords );
		reflectedLight.directDiffuse += lightColor * material.diffuseContribution * LTC_Evaluate( normal, viewDir, position, mat3( 1.0 ), rectCoords );
		#ifdef USE_CLEARCOAT
			vec3 Ncc = geometryClearcoatNormal;
			vec2 uvClearcoat = LTC_Uv( Ncc, viewDir, material.clearcoatRoughness );
			vec4 t1Clearcoat = texture2D( ltc_1, uvClearcoat );
			vec4 t2Clearcoat = texture2D( ltc_2, uvClearcoat );
			mat3 mInvClearcoat = mat3(
				vec3( t1Clearcoat.x, 0, t1Clearcoat.y ),
				vec3(             0, 1,             0 ),
				vec3( t1Clearcoat.z, 0, t1Clearcoat.w )
			);
			vec3 fresnelClearcoat = material.clearcoatF0 * t2Clearcoat.x + ( material.clearcoatF90 - material.clearcoatF0 ) * t2Clearcoat.y;
			clearcoatSpecularDirect += lightColor * fresnelClearcoat * LTC_Evaluate( Ncc, viewDir, position, mInvClearcoat, rectCoords );
		#endif
	}
#endif
void RE_Direct_Physical( const in IncidentLight directLight, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in PhysicalMaterial material, inout ReflectedLight reflectedLight ) {
	float dotNL = saturate( dot( geometryNormal, directLight.direction ) );
	vec3 irradiance = dotNL * directLight.color;
	#ifdef USE_CLEARCOAT
		float dotNLcc = saturate( dot( geometryClearcoatNormal, directLight.direction ) );
		vec3 ccIrradiance = dotNLcc * directLight.color;
		clearcoatSpecularDirect += ccIrradiance * BRDF_GGX_Clearcoat( directLight.direction, geometryViewDir, geometryClearcoatNormal, material );
	#endif
	#ifdef USE_SHEEN
 
 		sheenSpecularDirect += irradiance * BRDF_Sheen( directLight.direction, geometryViewDir, geometryNormal, material.sheenColor, material.sheenRoughness );
 
 		float sheenAlbedoV = IBLSheenBRDF( geometryNormal, geometryViewDir, material.sheenRoughness );
 		float sheenAlbedoL = IBLSheenBRDF( geometryNormal, directLight.direction, material.sheenRoughness );
 
 		float sheenEnergyComp = 1.0 - max3( material.sheenColor ) * max( sheenAlbedoV, sheenAlbedoL );
 
 		irradiance *= sheenEnergyComp;
 
 	#endif
	vec3 specularBRDF = BRDF_GGX( directLight.direction, geometryViewDir, geometryNormal, material );
	#ifdef USE_RETROREFLECTION
		vec3 retroViewDir = reflect( - geometryViewDir, geometryNormal );
		vec3 retroSpecularBRDF = BRDF_GGX( directLight.direction, retroViewDir, geometryNormal, material );
		specularBRDF = mix( specularBRDF, retroSpecularBRDF, saturate( material.retroreflectivity ) );
	#endif
	reflectedLight.directSpecular += irradiance * specularBRDF * material.multiScatteringCompensation;
	vec3 halfDir = normalize( directLight.direction + geometryViewDir );
	float dotVH = saturate( dot( geometryViewDir, halfDir ) );
	vec3 F = F_Schlick( material.specularColor, material.specularF90, dotVH );
	#ifdef USE_RETROREFLECTION
		vec3 retroHalfDir = normalize( directLight.direction + retroViewDir );
		float dotRetroVH = saturate( dot( retroViewDir, retroHalfDir ) );
		vec3 retroF = F_Schlick( material.specularColor, material.specularF90, dotRetroVH );
		F = mix( F, retroF, saturate( material.retroreflectivity ) );
	#endif
	#ifdef USE_DIFFUSE_ROUGHNESS
		vec3 diffuseBRDF = BRDF_EON( directLight.direction, geometryViewDir, geometryNormal, material.diffuseColor, material.diffuseRoughness ) * ( 1.0 - material.metalness );
	#else
		vec3 diffuseBRDF = BRDF_Lambert( material.diffuseContribution );
	#endif
	reflectedLight.directDiffuse += irradiance * diffuseBRDF * ( 1.0 - F );
}
void RE_IndirectDiffuse_Physical( const in vec3 irradiance, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in PhysicalMaterial material, inout ReflectedLight reflectedLight ) {
	vec3 singleScattering = vec3( 0.0 );
	vec3 multiScattering = vec3( 0.0 );
	#ifdef USE_IRIDESCENCE
		computeMultiscatteringIridescence( material.dfg, material.specularColor, material.specularF90, material.iridescence, material.iridescenceF0Dielectric, singleScattering, multiScattering );
	#else
		computeMultiscattering( material.dfg, material.specularColor, material.specularF90, singleScattering, multiScattering );
	#endif
	#ifdef USE_DIFFUSE_ROUGHNESS
		float dotNV = saturate( dot( geometryNormal, geometryViewDir ) );
		vec3 diffuseAlbedo = EON_DirectionalAlbedo( material.diffuseColor, material.diffuseRoughness, dotNV ) * ( 1.0 - material.metalness );
		vec3 diffuse = irradiance * RECIPROCAL_PI * diffuseAlbedo * ( 1.0 - singleScattering - multiScattering );
	#else
		vec3 diffuse = irradiance * BRDF_Lambert( material.diffuseContribution ) * ( 1.0 - singleScattering - multiScattering );
	#endif
	#ifdef USE_SHEEN
		float sheenAlbedo = IBLSheenBRDF( geometryNormal, geometryViewDir, material.sheenRoughness );
		sheenSpecularIndirect += irradiance * material.sheenColor * sheenAlbedo * RECIPROCAL_PI;
		float sheenEnergyComp = 1.0 - max3( material.sheenColor ) * sheenAlbedo;
		diffuse *= sheenEnergyComp;
	#endif
	reflectedLight.indirectDiffuse += diffuse;
}
void RE_IndirectSpecular_Physical( const in vec3 radiance, const in vec3 irradiance, const in vec3 clearcoatRadiance, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in PhysicalMaterial material, inout ReflectedLight reflectedLight) {
	#ifdef USE_CLEARCOAT
		clearcoatSpecularIndirect += clearcoatRadiance * EnvironmentBRDF( geometryClearcoatNormal, geometryViewDir, material.clearcoatF0, material.clearcoatF90, material.clearcoatRoughness );
	#endif
	#ifdef USE_SHEEN
		sheenSpecularIndirect += irradiance * material.sheenColor * IBLSheenBRDF( geometryNormal, geometryViewDir, material.sheenRoughness ) * RECIPROCAL_PI;
 	#endif
	vec3 singleScatteringDielectric = vec3( 0.0 );
	vec3 multiScatteringDielectric = vec3( 0.0 );
	vec3 singleScatteringMetallic = vec3( 0.0 );
	vec3 multiScatteringMetallic = vec3( 0.0 );
	#ifdef USE_IRIDESCENCE
		computeMultiscatteringIridescence( material.dfg, material.specularColor, material.specularF90, material.iridescence, material.iridescenceF0Dielectric, singleScatteringDielectric, multiScatteringDielectric );
		computeMultiscatteringIridescence( material.dfg, material.diffuseColor, material.specularF90, material.iridescence, material.iridescenceF0Metallic, singleScatteringMetallic, multiScatteringMetallic );
	#else
		computeMultiscattering( material.dfg, material.specularColor, material.specularF90, singleScatteringDielectric, multiScatteringDielectric );
		computeMultiscattering( material.dfg, material.diffuseColor, material.specularF90, singleScatteringMetallic, multiScatteringMetallic );
	#endif
	vec3 singleScattering = mix( singleScatteringDielectric, singleScatteringMetallic, material.metalness );
	vec3 multiScattering = mix( multiScatteringDielectric, multiScatteringMetallic, material.metalness );
	vec3 totalScatteringDielectric = singleScatteringDielectric + multiScatteringDielectric;
	#ifdef USE_DIFFUSE_ROUGHNESS
		float dotNV = saturate( dot( geometryNormal, geometryViewDir ) );
		vec3 diffuse = EON_DirectionalAlbedo( material.diffuseColor, material.diffuseRoughness, dotNV ) * ( 1.0 - material.metalness ) * ( 1.0 - totalScatteringDielectric );
	#else
		vec3 diffuse = material.diffuseContribution * ( 1.0 - totalScatteringDielectric );
	#endif
	vec3 cosineWeightedIrradiance = irradiance * RECIPROCAL_PI;
	vec3 indirectSpecular = radiance * singleScattering;
	indirectSpecular += multiScattering * cosineWeightedIrradiance;
	vec3 indirectDiffuse = diffuse * cosineWeightedIrradiance;
	#ifdef USE_SHEEN
		float sheenAlbedo = IBLSheenBRDF( geometryNormal, geometryViewDir, material.sheenRoughness );
		float sheenEnergyComp = 1.0 - max3( material.sheenColor ) * sheenAlbedo;
		indirectSpecular *= sheenEnergyComp;
		indirectDiffuse *= sheenEnergyComp;
	#endif
	reflectedLight.indirectSpecular += indirectSpecular;
	reflectedLight.indirectDiffuse += indirectDiffuse;
}
#define RE_Direct				RE_Direct_Physical
#define RE_Direct_RectArea		RE_Direct_RectArea_Physical
#define RE_IndirectDiffuse		RE_IndirectDiffuse_Physical
#define RE_IndirectSpecular		RE_IndirectSpecular_Physical
float computeSpecularOcclusion( const in float dotNV, const in float ambientOcclusion, const in float roughness ) {
	return saturate( pow( dotNV + ambientOcclusion, exp2( - 16.0 * roughness - 1.0 ) ) - 1.0 + ambientOcclusion );
}`,lights_fragment_begin:`
vec3 geometryPosition = - vViewPosition;
vec3 geometryNormal = normal;
vec3 geometryViewDir = ( isOrthographic ) ? vec3( 0, 0, 1 ) : normalize( vViewPosition );
vec3 geometryClearcoatNormal = vec3( 0.0 );
#ifdef USE_CLEARCOAT
	geometryClearcoatNormal = clearcoatNormal;
#endif
#ifdef USE_IRIDESCENCE
	float dotNVi = saturate( dot( normal, geometryViewDir ) );
	if ( material.iridescenceThickness == 0.0 ) {
		material.iridescence = 0.0;
	} else {
		material.iridescence = saturate( material.iridescence );
	}
	if ( material.iridescence > 0.0 ) {
		vec3 iridescenceFresnelDielectric = evalIridescence( 1.0, material.iridescenceIOR, dotNVi, material.iridescenceThickness, material.specularColor );
		vec3 iridescenceFresnelMetallic = evalIridescence( 1.0, material.iridescenceIOR, dotNVi, material.iridescenceThickness, material.diffuseColor );
		material.iridescenceFresnel = mix( iridescenceFresnelDielectric, iridescenceFresnelMetallic, material.metalness );
		material.iridescenceF0Dielectric = Schlick_to_F0( iridescenceFresnelDielectric, 1.0, dotNVi );
		material.iridescenceF0Metallic = Schlick_to_F0( iridescenceFresnelMetallic, 1.0, dotNVi );
	}
#endif
#ifdef STANDARD
	float dotNVms = saturate( dot( geometryNormal, geometryViewDir ) );
	material.dfg = texture2D( dfgLUT, vec2( material.roughness, dotNVms ) ).rg;
	#if ( NUM_SUN_LIGHTS > 0 || NUM_DIR_LIGHTS > 0 || NUM_POINT_LIGHTS > 0 || NUM_SPOT_LIGHTS > 0 )
		float EssMs = material.dfg.x + material.dfg.y;
		material.multiScatteringCompensation = 1.0 + material.specularColorBlended * ( 1.0 / EssMs - 1.0 );
	#endif
#endif
IncidentLight directLight;
#if ( NUM_POINT_LIGHTS > 0 ) && defined( RE_Direct )
	PointLight pointLight;
	#if defined( USE_SHADOWMAP ) && NUM_POINT_LIGHT_SHADOWS > 0
	PointLightShadow pointLightShadow;
	#endif
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_POINT_LIGHTS; i ++ ) {
		pointLight = pointLights[ i ];
		getPointLightInfo( pointLight, geometryPosition, directLight );
		#if defined( USE_SHADOWMAP ) && ( UNROLLED_LOOP_INDEX < NUM_POINT_LIGHT_SHADOWS ) && ( defined( SHADOWMAP_TYPE_PCF ) || defined( SHADOWMAP_TYPE_BASIC ) )
		pointLightShadow = pointLightShadows[ i ];
		directLight.color *= ( directLight.visible && receiveShadow ) ? getPointShadow( pointShadowMap[ i ], pointLightShadow.shadowMapSize, pointLightShadow.shadowIntensity, pointLightShadow.shadowBias, pointLightShadow.shadowRadius, vPointShadowCoord[ i ], pointLightShadow.shadowCameraNear, pointLightShadow.shadowCameraFar ) : 1.0;
		#endif
		RE_Direct( directLight, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
	}
	#pragma unroll_loop_end
#endif
#if ( NUM_SPOT_LIGHTS > 0 ) && defined( RE_Direct )
	SpotLight spotLight;
	vec4 spotColor;
	vec3 spotLightCoord;
	bool inSpotLightMap;
	#if defined( USE_SHADOWMAP ) && NUM_SPOT_LIGHT_SHADOWS > 0
	SpotLightShadow spotLightShadow;
	#endif
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_SPOT_LIGHTS; i ++ ) {
		spotLight = spotLights[ i ];
		getSpotLightInfo( spotLight, geometryPosition, directLight );
		#if ( UNROLLED_LOOP_INDEX < NUM_SPOT_LIGHT_SHADOWS_WITH_MAPS )
		#define SPOT_LIGHT_MAP_INDEX UNROLLED_LOOP_INDEX
		#elif ( UNROLLED_LOOP_INDEX < NUM_SPOT_LIGHT_SHADOWS )
		#define SPOT_LIGHT_MAP_INDEX NUM_SPOT_LIGHT_MAPS
		#else
		#define SPOT_LIGHT_MAP_INDEX ( UNROLLED_LOOP_INDEX - NUM_SPOT_LIGHT_SHADOWS + NUM_SPOT_LIGHT_SHADOWS_WITH_MAPS )
		#endif
		#if ( SPOT_LIGHT_MAP_INDEX < NUM_SPOT_LIGHT_MAPS )
			spotLightCoord = vSpotLightCoord[ i ].xyz / vSpotLightCoord[ i ].w;
			inSpotLightMap = all( lessThan( abs( spotLightCoord * 2. - 1. ), vec3( 1.0 ) ) );
			spotColor = texture2D( spotLightMap[ SPOT_LIGHT_MAP_INDEX ], spotLightCoord.xy );
			directLight.color = inSpotLightMap ? directLight.color * spotColor.rgb : directLight.color;
		#endif
		#undef SPOT_LIGHT_MAP_INDEX
		#if defined( USE_SHADOWMAP ) && ( UNROLLED_LOOP_INDEX < NUM_SPOT_LIGHT_SHADOWS )
		spotLightShadow = spotLightShadows[ i ];
		directLight.color *= ( directLight.visible && receiveShadow ) ? getShadow( spotShadowMap[ i ], spotLightShadow.shadowMapSize, spotLightShadow.shadowIntensity, spotLightShadow.shadowBias, spotLightShadow.shadowRadius, vSpotLightCoord[ i ] ) : 1.0;
		#endif
		RE_Direct( directLight, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
	}
	#pragma unroll_loop_end
#endif
#if ( NUM_SUN_LIGHTS > 0 ) && defined( RE_Direct )
	SunLight sunLight;
	#if defined( USE_SHADOWMAP ) && NUM_SUN_LIGHT_SHADOWS > 0
	SunLightShadow sunLightShadow;
	#endif
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_SUN_LIGHTS; i ++ ) {
		sunLight = sunLights[ i ];
		getSunLightInfo( sunLight, directLight );
		#if defined( USE_SHADOWMAP ) && ( UNROLLED_LOOP_INDEX < NUM_SUN_LIGHT_SHADOWS )
		sunLightShadow = sunLightShadows[ i ];
		directLight.color *= ( directLight.visible && receiveShadow ) ? getSunShadow( sunShadowMap[ i ], sunLightShadow, UNROLLED_LOOP_INDEX ) : 1.0;
		#endif
		RE_Direct( directLight, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
	}
	#pragma unroll_loop_end
#endif
#if ( NUM_DIR_LIGHTS > 0 ) && defined( RE_Direct )
	DirectionalLight directionalLight;
	#if defined( USE_SHADOWMAP ) && NUM_DIR_LIGHT_SHADOWS > 0
	DirectionalLightShadow directionalLightShadow;
	#endif
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_DIR_LIGHTS; i ++ ) {
		directionalLight = directionalLights[ i ];
		getDirectionalLightInfo( directionalLight, directLight );
		#if defined( USE_SHADOWMAP ) && ( UNROLLED_LOOP_INDEX < NUM_DIR_LIGHT_SHADOWS )
		directionalLightShadow = directionalLightShadows[ i ];
		directLight.color *= ( directLight.visible && receiveShadow ) ? getShadow( directionalShadowMap[ i ], directionalLightShadow.shadowMapSize, directionalLightShadow.shadowIntensity, directionalLightShadow.shadowBias, directionalLightShadow.shadowRadius, vDirectionalShadowCoord[ i ] ) : 1.0;
		#endif
		RE_Direct( directLight, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
	}
	#pragma unroll_loop_end
#endif
#if ( NUM_RECT_AREA_LIGHTS > 0 ) && defined( RE_Direct_RectArea )
	RectAreaLight rectAreaLight;
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_RECT_AREA_LIGHTS; i ++ ) {
		rectAreaLight = rectAreaLights[ i ];
		RE_Direct_RectArea( rectAreaLight, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
	}
	#pragma unroll_loop_end
#endif
#if defined( RE_IndirectDiffuse )
	vec3 iblIrradiance = vec3( 0.0 );
	vec3 irradiance = getAmbientLightIrradiance( ambientLightColor );
	#if defined( USE_LIGHT_PROBES )
		irradiance += getLightProbeIrradiance( lightProbe, geometryNormal );
	#endif
	#if ( NUM_HEMI_LIGHTS > 0 )
		#pragma unroll_loop_start
		for ( int i = 0; i < NUM_HEMI_LIGHTS; i ++ ) {
			irradiance += getHemisphereLightIrradiance( hemisphereLights[ i ], geometryNormal );
		}
		#pragma unroll_loop_end
	#endif
	#if NUM_LIGHT_PROBE_GRIDS > 0
		vec3 probeWorldPos = ( ( vec4( geometryPosition, 1.0 ) - viewMatrix[ 3 ] ) * viewMatrix ).xyz;
		vec3 probeWorldNormal = transformNormalByInverseViewMatrix( geometryNormal, viewMatrix );
		int probeGrid = - 1;
		#pragma unroll_loop_start
		for ( int i = 0; i < NUM_LIGHT_PROBE_GRIDS; i ++ ) {
			if ( isInsideLightProbeGrid( probeWorldPos, probeWorldNormal, probesMin[ i ], probesMax[ i ], probesResolution[ i ] ) ) probeGrid = UNROLLED_LOOP_INDEX;
		}
		#pragma unroll_loop_end
		#pragma unroll_loop_start
		for ( int i = 0; i < NUM_LIGHT_PROBE_GRIDS; i ++ ) {
			if ( probeGrid == UNROLLED_LOOP_INDEX ) irradiance += getLightProbeGridIrradiance( probesSH[ i ], probesMin[ i ], probesMax[ i ], probesResolution[ i ], probeWorldPos, probeWorldNormal );
		}
		#pragma unroll_loop_end
	#endif
#endif
#if defined( RE_IndirectSpecular )
	vec3 radiance = vec3( 0.0 );
	vec3 clearcoatRadiance = vec3( 0.0 );
#endif`,lights_fragment_maps:`#if defined( RE_IndirectDiffuse )
	#ifdef USE_LIGHTMAP
		vec4 lightMapTexel = texture2D( lightMap, vLightMapUv );
		vec3 lightMapIrradiance = lightMapTexel.rgb * lightMapIntensity;
		irradiance += lightMapIrradiance;
	#endif
	#if defined( USE_ENVMAP ) && defined( ENVMAP_TYPE_PMREM )
		#if defined( STANDARD ) || defined( LAMBERT ) || defined( PHONG )
			iblIrradiance += getIBLIrradiance( geometryNormal );
		#endif
	#endif
#endif
#if defined( USE_ENVMAP ) && defined( RE_IndirectSpecular )
	#ifdef USE_ANISOTROPY
		vec3 iblRadiance = getIBLAnisotropyRadiance( geometryViewDir, geometryNormal, material.roughness, material.anisotropyB, material.anisotropy );
	#else
		vec3 iblRadiance = getIBLRadiance( geometryViewDir, geometryNormal, material.roughness );
	#endif
	#ifdef USE_RETROREFLECTION
		#ifdef USE_ANISOTROPY
			vec3 retroIBLRadiance = getIBLAnisotropyRetroRadiance( geometryViewDir, geometryNormal, material.roughness, material.anisotropyB, material.anisotropy );
		#else
			vec3 retroIBLRadiance = getIBLRetroRadiance( geometryViewDir, geometryNormal, material.roughness );
		#endif
		iblRadiance = mix( iblRadiance, retroIBLRadiance, saturate( material.retroreflectivity ) );
	#endif
	radiance += iblRadiance;
	#ifdef USE_CLEARCOAT
		clearcoatRadiance += getIBLRadiance( geometryViewDir, geometryClearcoatNormal, material.clearcoatRoughness );
	#endif
#endif`,lights_fragment_end:`#if defined( RE_IndirectDiffuse )
	#if defined( LAMBERT ) || defined( PHONG )
		irradiance += iblIrradiance;
	#endif
	RE_IndirectDiffuse( irradiance, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
#endif
#if defined( RE_IndirectSpecular )
	RE_IndirectSpecular( radiance, iblIrradiance, clearcoatRadiance, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
#endif`,lightprobes_pars_fragment:`#if NUM_LIGHT_PROBE_GRIDS > 0
uniform highp sampler3D probesSH[ NUM_LIGHT_PROBE_GRIDS ];
uniform vec3 probesMin[ NUM_LIGHT_PROBE_GRIDS ];
uniform vec3 probesMax[ NUM_LIGHT_PROBE_GRIDS ];
uniform vec3 probesResolution[ NUM_LIGHT_PROBE_GRIDS ];
bool isInsideLightProbeGrid( vec3 worldPos, vec3 worldNormal, vec3 probesMin, vec3 probesMax, vec3 probesResolution ) {
	vec3 spacing = ( probesMax - probesMin ) / probesResolution;
	vec3 samplePos = worldPos + worldNormal * spacing * 0.5;
	vec3 margin = spacing * 0.01;
	return all( greaterThanEqual( samplePos, probesMin - margin ) ) && all( lessThanEqual( samplePos, probesMax + margin ) );
}
vec3 getLightProbeGridIrradiance( highp sampler3D probesSH, vec3 probesMin, vec3 probesMax, vec3 probesResolution, vec3 worldPos, vec3 worldNormal ) {
	vec3 res = probesResolution;
	vec3 gridRange = probesMax - probesMin;
	vec3 probeSpacing = gridRange / res;
	vec3 samplePos = worldPos + worldNormal * probeSpacing * 0.5;
	vec3 uvw = clamp( ( samplePos - probesMin ) / gridRange, 0.5 / res, 1.0 - 0.5 / res );
	float nz          = res.z;
	float paddedSlices = nz + 2.0;
	float atlasDepth  = 7.0 * paddedSlices;
	float uvZBase     = uvw.z * nz + 1.0;
	vec4 s0 = texture( probesSH, vec3( uvw.xy, ( uvZBase                       ) / atlasDepth ) );
	vec4 s1 = texture( probesSH, vec3( uvw.xy, ( uvZBase +       paddedSlices   ) / atlasDepth ) );
	vec4 s2 = texture( probesSH, vec3( uvw.xy, ( uvZBase + 2.0 * paddedSlices   ) / atlasDepth ) );
	vec4 s3 = texture( probesSH, vec3( uvw.xy, ( uvZBase + 3.0 * paddedSlices   ) / atlasDepth ) );
	vec4 s4 = texture( probesSH, vec3( uvw.xy, ( uvZBase + 4.0 * paddedSlices   ) / atlasDepth ) );
	vec4 s5 = texture( probesSH, vec3( uvw.xy, ( uvZBase + 5.0 * paddedSlices   ) / atlasDepth ) );
	vec4 s6 = texture( probesSH, vec3( uvw.xy, ( uvZBase + 6.0 * paddedSlices   ) / atlasDepth ) );
	vec3 c0 = s0.xyz;
	vec3 c1 = vec3( s0.w, s1.xy );
	vec3 c2 = vec3( s1.zw, s2.x );
	vec3 c3 = s2.yzw;
	vec3 c4 = s3.xyz;
	vec3 c5 = vec3( s3.w, s4.xy );
	vec3 c6 = vec3( s4.zw, s5.x );
	vec3 c7 = s5.yzw;
	vec3 c8 = s6.xyz;
	float x = worldNormal.x, y = worldNormal.y, z = worldNormal.z;
	vec3 result = c0 * 0.886227;
	result += c1 * 2.0 * 0.511664 * y;
	result += c2 * 2.0 * 0.511664 * z;
	result += c3 * 2.0 * 0.511664 * x;
	result += c4 * 2.0 * 0.429043 * x * y;
	result += c5 * 2.0 * 0.429043 * y * z;
	result += c6 * ( 0.743125 * z * z - 0.247708 );
	result += c7 * 2.0 * 0.429043 * x * z;
	result += c8 * 0.429043 * ( x * x - y * y );
	return max( result, vec3( 0.0 ) );
}
#endif`,logdepthbuf_fragment:`#if defined( USE_LOGARITHMIC_DEPTH_BUFFER )
	gl_FragDepth = vIsPerspective == 0.0 ? gl_FragCoord.z : log2( vFragDepth ) * logDepthBufFC * 0.5;
#endif`,logdepthbuf_pars_fragment:`#if defined( USE_LOGARITHMIC_DEPTH_BUFFER )
	uniform float logDepthBufFC;
	varying float vFragDepth;
	varying float vIsPerspective;
#endif`,logdepthbuf_pars_vertex:`#ifdef USE_LOGARITHMIC_DEPTH_BUFFER
	varying float vFragDepth;
	varying float vIsPerspective;
#endif`,logdepthbuf_vertex:`#ifdef USE_LOGARITHMIC_DEPTH_BUFFER
	vFragDepth = 1.0 + gl_Position.w;
	vIsPerspective = float( isPerspectiveMatrix( projectionMatrix ) );
#endif`,map_fragment:`#ifdef USE_MAP
	vec4 sampledDiffuseColor = texture2D( map, vMapUv );
	#ifdef DECODE_VIDEO_TEXTURE
		sampledDiffuseColor = sRGBTransferEOTF( sampledDiffuseColor );
	#endif
	diffuseColor *= sampledDiffuseColor;
#endif`,map_pars_fragment:`#ifdef USE_MAP
	uniform sampler2D map;
#endif`,map_particle_fragment:`#if defined( USE_MAP ) || defined( USE_ALPHAMAP )
	#if defined( USE_POINTS_UV )
		vec2 uv = vUv;
	#else
		vec2 uv = ( uvTransform * vec3( gl_PointCoord.x, 1.0 - gl_PointCoord.y, 1 ) ).xy;
	#endif
#endif
#ifdef USE_MAP
	diffuseColor *= texture2D( map, uv );
#endif
#ifdef USE_ALPHAMAP
	diffuseColor.a *= texture2D( alphaMap, uv ).g;
#endif`,map_particle_pars_fragment:`#if defined( USE_POINTS_UV )
	varying vec2 vUv;
#else
	#if defined( USE_MAP ) || defined( USE_ALPHAMAP )
		uniform mat3 uvTransform;
	#endif
#endif
#ifdef USE_MAP
	uniform sampler2D map;
#endif
#ifdef USE_ALPHAMAP
	uniform sampler2D alphaMap;
#endif`,metalnessmap_fragment:`float metalnessFactor = metalness;
#ifdef USE_METALNESSMAP
	vec4 texelMetalness = texture2D( metalnessMap, vMetalnessMapUv );
	metalnessFactor *= texelMetalness.b;
#endif`,metalnessmap_pars_fragment:`#ifdef USE_METALNESSMAP
	uniform sampler2D metalnessMap;
#endif`,morphinstance_vertex:`#ifdef USE_INSTANCING_MORPH
	float morphTargetInfluences[ MORPHTARGETS_COUNT ];
	float morphTargetBaseInfluence = texelFetch( morphTexture, ivec2( 0, gl_InstanceID ), 0 ).r;
	for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) {
		morphTargetInfluences[i] =  texelFetch( morphTexture, ivec2( i + 1, gl_InstanceID ), 0 ).r;
	}
#endif`,morphcolor_vertex:`#if defined( USE_MORPHCOLORS )
	#if defined( USE_COLOR_ALPHA )
		vColor *= morphTargetBaseInfluence;
	#elif defined( USE_COLOR )
		vColor.rgb *= morphTargetBaseInfluence;
	#endif
	for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) {
		#if defined( USE_COLOR_ALPHA )
			if ( morphTargetInfluences[ i ] != 0.0 ) vColor += getMorph( gl_VertexID, i, 2 ) * morphTargetInfluences[ i ];
		#elif defined( USE_COLOR )
			if ( morphTargetInfluences[ i ] != 0.0 ) vColor.rgb += getMorph( gl_VertexID, i, 2 ).rgb * morphTargetInfluences[ i ];
		#endif
	}
#endif`,morphnormal_vertex:`#ifdef USE_MORPHNORMALS
	objectNormal *= morphTargetBaseInfluence;
	for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) {
		if ( morphTargetInfluences[ i ] != 0.0 ) objectNormal += getMorph( gl_VertexID, i, 1 ).xyz * morphTargetInfluences[ i ];
	}
#endif`,morphtarget_pars_vertex:`#ifdef USE_MORPHTARGETS
	#ifndef USE_INSTANCING_MORPH
		uniform float morphTargetBaseInfluence;
		uniform float morphTargetInfluences[ MORPHTARGETS_COUNT ];
	#endif
	uniform sampler2DArray morphTargetsTexture;
	uniform ivec2 morphTargetsTextureSize;
	vec4 getMorph( const in int vertexIndex, const in int morphTargetIndex, const in int offset ) {
		int texelIndex = vertexIndex * MORPHTARGETS_TEXTURE_STRIDE + offset;
		int y = texelIndex / morphTargetsTextureSize.x;
		int x = texelIndex - y * morphTargetsTextureSize.x;
		ivec3 morphUV = ivec3( x, y, morphTargetIndex );
		return texelFetch( morphTargetsTexture, morphUV, 0 );
	}
#endif`,morphtarget_vertex:`#ifdef USE_MORPHTARGETS
	transformed *= morphTargetBaseInfluence;
	for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) {
		if ( morphTargetInfluences[ i ] != 0.0 ) transformed += getMorph( gl_VertexID, i, 0 ).xyz * morphTargetInfluences[ i ];
	}
#endif`,normal_fragment_begin:`float faceDirection = gl_FrontFacing ? 1.0 : - 1.0;
#ifdef FLAT_SHADED
	vec3 fdx = dFdx( vViewPosition );
	vec3 fdy = dFdy( vViewPosition );
	vec3 normal = normalize( cross( fdx, fdy ) );
#else
	vec3 normal = normalize( vNormal );
	#ifdef DOUBLE_SIDED
		normal *= faceDirection;
	#endif
#endif
#if defined( USE_NORMALMAP_TANGENTSPACE ) || defined( USE_CLEARCOAT_NORMALMAP ) || defined( USE_ANISOTROPY )
	#ifdef USE_TANGENT
		mat3 tbn = mat3( normalize( vTangent ), normalize( vBitangent ), normal );
	#else
		mat3 tbn = getTangentFrame( - vViewPosition, normal,
		#if defined( USE_NORMALMAP )
			vNormalMapUv
		#elif defined( USE_CLEARCOAT_NORMALMAP )
			vClearcoatNormalMapUv
		#else
			vUv
		#endif
		);
	#endif
	#ifdef DOUBLE_SIDED
		tbn[0] *= faceDirection;
		tbn[1] *= faceDirection;
	#endif
#endif
#ifdef USE_CLEARCOAT_NORMALMAP
	#ifdef USE_TANGENT
		mat3 tbn2 = mat3( normalize( vTangent ), normalize( vBitangent ), normal );
	#else
		mat3 tbn2 = getTangentFrame( - vViewPosition, normal, vClearcoatNormalMapUv );
	#endif
	#ifdef DOUBLE_SIDED
		tbn2[0] *= faceDirection;
		tbn2[1] *= faceDirection;
	#endif
#endif
vec3 nonPerturbedNormal = normal;`,normal_fragment_maps:`#ifdef USE_NORMALMAP_OBJECTSPACE
	normal = texture2D( normalMap, vNormalMapUv ).xyz * 2.0 - 1.0;
	#ifdef FLIP_SIDED
		normal = - normal;
	#endif
	#ifdef DOUBLE_SIDED
		normal = normal * faceDirection;
	#endif
	normal = normalize( normalMatrix * normal );
#elif defined( USE_NORMALMAP_TANGENTSPACE )
	vec3 mapN = texture2D( normalMap, vNormalMapUv ).xyz * 2.0 - 1.0;
	#if defined( USE_PACKED_NORMALMAP )
		mapN = vec3( mapN.xy, sqrt( saturate( 1.0 - dot( mapN.xy, mapN.xy ) ) ) );
	#endif
	mapN.xy *= normalScale;
	normal = normalize( tbn * mapN );
#elif defined( USE_BUMPMAP )
	normal = perturbNormalArb( - vViewPosition, normal, dHdxy_fwd(), faceDirection );
#endif`,normal_pars_fragment:`#ifndef FLAT_SHADED
	varying vec3 vNormal;
	#ifdef USE_TANGENT
		varying vec3 vTangent;
		varying vec3 vBitangent;
	#endif
#endif`,normal_pars_vertex:`#ifndef FLAT_SHADED
	varying vec3 vNormal;
	#ifdef USE_TANGENT
		varying vec3 vTangent;
		varying vec3 vBitangent;
	#endif
#endif`,normal_vertex:`#ifndef FLAT_SHADED
	vNormal = normalize( transformedNormal );
	#ifdef USE_TANGENT
		vTangent = normalize( transformedTangent );
		vBitangent = normalize( cross( vNormal, vTangent ) * tangent.w );
		#ifdef FLIP_SIDED
			vBitangent = - vBitangent;
		#endif
	#endif
#endif`,normalmap_pars_fragment:`#ifdef USE_NORMALMAP
	uniform sampler2D normalMap;
	uniform vec2 normalScale;
#endif
#ifdef USE_NORMALMAP_OBJECTSPACE
	uniform mat3 normalMatrix;
#endif
#if ! defined ( USE_TANGENT ) && ( defined ( USE_NORMALMAP_TANGENTSPACE ) || defined ( USE_CLEARCOAT_NORMALMAP ) || defined( USE_ANISOTROPY ) )
	mat3 getTangentFrame( vec3 eye_pos, vec3 surf_norm, vec2 uv ) {
		vec3 q0 = dFdx( eye_pos.xyz );
		vec3 q1 = dFdy( eye_pos.xyz );
		vec2 st0 = dFdx( uv.st );
		vec2 st1 = dFdy( uv.st );
		vec3 N = surf_norm;
		vec3 q1perp = cross( q1, N );
		vec3 q0perp = cross( N, q0 );
		vec3 T = q1perp * st0.x + q0perp * st1.x;
		vec3 B = q1perp * st0.y + q0perp * st1.y;
		float det = max( dot( T, T ), dot( B, B ) );
		float scale = ( det == 0.0 ) ? 0.0 : inversesqrt( det );
		return mat3( T * scale, B * scale, N );
	}
#endif`,clearcoat_normal_fragment_begin:`#ifdef USE_CLEARCOAT
	vec3 clearcoatNormal = nonPerturbedNormal;
#endif`,clearcoat_normal_fragment_maps:`#ifdef USE_CLEARCOAT_NORMALMAP
	vec3 clearcoatMapN = texture2D( clearcoatNormalMap, vClearcoatNormalMapUv ).xyz * 2.0 - 1.0;
	clearcoatMapN.xy *= clearcoatNormalScale;
	clearcoatNormal = normalize( tbn2 * clearcoatMapN );
#endif`,clearcoat_pars_fragment:`#ifdef USE_CLEARCOATMAP
	uniform sampler2D clearcoatMap;
#endif
#ifdef USE_CLEARCOAT_NORMALMAP
	uniform sampler2D clearcoatNormalMap;
	uniform vec2 clearcoatNormalScale;
#endif
#ifdef USE_CLEARCOAT_ROUGHNESSMAP
	uniform sampler2D clearcoatRoughnessMap;
#endif`,iridescence_pars_fragment:`#ifdef USE_IRIDESCENCEMAP
	uniform sampler2D iridescenceMap;
#endif
#ifdef USE_IRIDESCENCE_THICKNESSMAP
	uniform sampler2D iridescenceThicknessMap;
#endif`,opaque_fragment:`#ifdef OPAQUE
diffuseColor.a = 1.0;
#endif
#ifdef USE_TRANSMISSION
diffuseColor.a *= material.transmissionAlpha;
#endif
gl_FragColor = vec4( outgoingLight, diffuseColor.a );`,packing:`vec3 packNormalToRGB( const in vec3 normal ) {
	return normalize( normal ) * 0.5 + 0.5;
}
vec3 unpackRGBToNormal( const in vec3 rgb ) {
	return 2.0 * rgb.xyz - 1.0;
}
const float PackUpscale = 256. / 255.;const float UnpackDownscale = 255. / 256.;const float ShiftRight8 = 1. / 256.;
const float Inv255 = 1. / 255.;
const vec4 PackFactors = vec4( 1.0, 256.0, 256.0 * 256.0, 256.0 * 256.0 * 256.0 );
const vec2 UnpackFactors2 = vec2( UnpackDownscale, 1.0 / PackFactors.g );
const vec3 UnpackFactors3 = vec3( UnpackDownscale / PackFactors.rg, 1.0 / PackFactors.b );
const vec4 UnpackFactors4 = vec4( UnpackDownscale / PackFactors.rgb, 1.0 / PackFactors.a );
vec4 packDepthToRGBA( const in float v ) {
	if( v <= 0.0 )
		return vec4( 0., 0., 0., 0. );
	if( v >= 1.0 )
		return vec4( 1., 1., 1., 1. );
	float vuf;
	float af = modf( v * PackFactors.a, vuf );
	float bf = modf( vuf * ShiftRight8, vuf );
	float gf = modf( vuf * ShiftRight8, vuf );
	return vec4( vuf * Inv255, gf * PackUpscale, bf * PackUpscale, af );
}
vec3 packDepthToRGB( const in float v ) {
	if( v <= 0.0 )
		return vec3( 0., 0., 0. );
	if( v >= 1.0 )
		return vec3( 1., 1., 1. );
	float vuf;
	float bf = modf( v * PackFactors.b, vuf );
	float gf = modf( vuf * ShiftRight8, vuf );
	return vec3( vuf * Inv255, gf * PackUpscale, bf );
}
vec2 packDepthToRG( const in float v ) {
	if( v <= 0.0 )
		return vec2( 0., 0. );
	if( v >= 1.0 )
		return vec2( 1., 1. );
	float vuf;
	float gf = modf( v * 256., vuf );
	return vec2( vuf * Inv255, gf );
}
float unpackRGBAToDepth( const in vec4 v ) {
	return dot( v, UnpackFactors4 );
}
float unpackRGBToDepth( const in vec3 v ) {
	return dot( v, UnpackFactors3 );
}
float unpackRGToDepth( const in vec2 v ) {
	return v.r * UnpackFactors2.r + v.g * UnpackFactors2.g;
}
vec4 pack2HalfToRGBA( const in vec2 v ) {
	vec4 r = vec4( v.x, fract( v.x * 255.0 ), v.y, fract( v.y * 255.0 ) );
	return vec4( r.x - r.y / 255.0, r.y, r.z - r.w / 255.0, r.w );
}
vec2 unpackRGBATo2Half( const in vec4 v ) {
	return vec2( v.x + ( v.y / 255.0 ), v.z + ( v.w / 255.0 ) );
}
float viewZToOrthographicDepth( const in float viewZ, const in float near, const in float far ) {
	return ( viewZ + near ) / ( near - far );
}
float orthographicDepthToViewZ( const in float depth, const in float near, const in float far ) {
	#ifdef USE_REVERSED_DEPTH_BUFFER
	
		return depth * ( far - near ) - far;
	#else
		return depth * ( near - far ) - near;
	#endif
}
float viewZToPerspectiveDepth( const in float viewZ, const in float near, const in float far ) {
	return ( ( near + viewZ ) * far ) / ( ( far - near ) * viewZ );
}
float perspectiveDepthToViewZ( const in float depth, const in float near, const in float far ) {
	
	#ifdef USE_REVERSED_DEPTH_BUFFER
		return ( near * far ) / ( ( near - far ) * depth - near );
	#else
		return ( near * far ) / ( ( far - near ) * depth - far );
	#endif
}`,premultiplied_alpha_fragment:`#ifdef PREMULTIPLIED_ALPHA
	gl_FragColor.rgb *= gl_FragColor.a;
#endif`,project_vertex:`vec4 mvPosition = vec4( transformed, 1.0 );
#ifdef USE_BATCHING
	mvPosition = batchingMatrix * mvPosition;
#endif
#ifdef USE_INSTANCING
	mvPosition = instanceMatrix * mvPosition;
#endif
mvPosition = modelViewMatrix * mvPosition;
gl_Position = projectionMatrix * mvPosition;`,dithering_fragment:`#ifdef DITHERING
	gl_FragColor.rgb = dithering( gl_FragColor.rgb );
#endif`,dithering_pars_fragment:`#ifdef DITHERING
	vec3 dithering( vec3 color ) {
		float grid_position = rand( gl_FragCoord.xy );
		vec3 dither_shift_RGB = vec3( 0.25 / 255.0, -0.25 / 255.0, 0.25 / 255.0 );
		dither_shift_RGB = mix( 2.0 * dither_shift_RGB, -2.0 * dither_shift_RGB, grid_position );
		return color + dither_shift_RGB;
	}
#endif`,roughnessmap_fragment:`float roughnessFactor = roughness;
#ifdef USE_ROUGHNESSMAP
	vec4 texelRoughness = texture2D( roughnessMap, vRoughnessMapUv );
	roughnessFactor *= texelRoughness.g;
#endif`,roughnessmap_pars_fragment:`#ifdef USE_ROUGHNESSMAP
	uniform sampler2D roughnessMap;
#endif`,shadowmap_pars_fragment:`#if NUM_SPOT_LIGHT_COORDS > 0
	varying vec4 vSpotLightCoord[ NUM_SPOT_LIGHT_COORDS ];
#endif
#if NUM_SPOT_LIGHT_MAPS > 0
	uniform sampler2D spotLightMap[ NUM_SPOT_LIGHT_MAPS ];
#endif
#ifdef USE_SHADOWMAP
	#if NUM_SUN_LIGHT_SHADOWS > 0
		#define SUN_LIGHT_CASCADES 2
		#if defined( SHADOWMAP_TYPE_PCF )
			uniform sampler2DShadow sunShadowMap[ NUM_SUN_LIGHT_SHADOWS ];
		#else
			uniform sampler2D sunShadowMap[ NUM_SUN_LIGHT_SHADOWS ];
		#endif
		uniform mat4 sunShadowMatrix[ NUM_SUN_LIGHT_SHADOWS * SUN_LIGHT_CASCADES ];
		uniform vec4 sunShadowCascade[ NUM_SUN_LIGHT_SHADOWS * SUN_LIGHT_CASCADES ];
		varying vec4 vSunShadowWorldPosition;
		varying vec3 vSunShadowWorldNormal;
		struct SunLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
		};
		uniform SunLightShadow sunLightShadows[ NUM_SUN_LIGHT_SHADOWS ];
	#endif
	#if NUM_DIR_LIGHT_SHADOWS > 0
		#if defined( SHADOWMAP_TYPE_PCF )
			uniform sampler2DShadow directionalShadowMap[ NUM_DIR_LIGHT_SHADOWS ];
		#else
			uniform sampler2D directionalShadowMap[ NUM_DIR_LIGHT_SHADOWS ];
		#endif
		varying vec4 vDirectionalShadowCoord[ NUM_DIR_LIGHT_SHADOWS ];
		struct DirectionalLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
		};
		uniform DirectionalLightShadow directionalLightShadows[ NUM_DIR_LIGHT_SHADOWS ];
	#endif
	#if NUM_SPOT_LIGHT_SHADOWS > 0
		#if defined( SHADOWMAP_TYPE_PCF )
			uniform sampler2DShadow spotShadowMap[ NUM_SPOT_LIGHT_SHADOWS ];
		#else
			uniform sampler2D spotShadowMap[ NUM_SPOT_LIGHT_SHADOWS ];
		#endif
		struct SpotLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
		};
		uniform SpotLightShadow spotLightShadows[ NUM_SPOT_LIGHT_SHADOWS ];
	#endif
	#if NUM_POINT_LIGHT_SHADOWS > 0
		#if defined( SHADOWMAP_TYPE_PCF )
			uniform samplerCubeShadow pointShadowMap[ NUM_POINT_LIGHT_SHADOWS ];
		#elif defined( SHADOWMAP_TYPE_BASIC )
			uniform samplerCube pointShadowMap[ NUM_POINT_LIGHT_SHADOWS ];
		#endif
		varying vec4 vPointShadowCoord[ NUM_POINT_LIGHT_SHADOWS ];
		struct PointLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
			float shadowCameraNear;
			float shadowCameraFar;
		};
		uniform PointLightShadow pointLightShadows[ NUM_POINT_LIGHT_SHADOWS ];
	#endif
	#if defined( SHADOWMAP_TYPE_PCF )
		float interleavedGradientNoise( vec2 position ) {
			return fract( 52.9829189 * fract( dot( position, vec2( 0.06711056, 0.00583715 ) ) ) );
		}
		vec2 vogelDiskSample( int sampleIndex, int samplesCount, float phi ) {
			const float goldenAngle = 2.399963229728653;
			float r = sqrt( ( float( sampleIndex ) + 0.5 ) / float( samplesCount ) );
			float theta = float( sampleIndex ) * goldenAngle + phi;
			return vec2( cos( theta ), sin( theta ) ) * r;
		}
	#endif
	#if defined( SHADOWMAP_TYPE_PCF )
		float getShadow( sampler2DShadow shadowMap, vec2 shadowMapSize, float shadowIntensity, float shadowBias, float shadowRadius, vec4 shadowCoord ) {
			float shadow = 1.0;
			shadowCoord.xyz /= shadowCoord.w;
			#ifdef USE_REVERSED_DEPTH_BUFFER
				shadowCoord.z -= shadowBias;
			#else
				shadowCoord.z += shadowBias;
			#endif
			bool inFrustum = shadowCoord.x >= 0.0 && shadowCoord.x <= 1.0 && shadowCoord.y >= 0.0 && shadowCoord.y <= 1.0;
			bool frustumTest = inFrustum && shadowCoord.z <= 1.0;
			if ( frustumTest ) {
				vec2 texelSize = vec2( 1.0 ) / shadowMapSize;
				vec2 radius = shadowRadius * texelSize;
				float phi = interleavedGradientNoise( gl_FragCoord.xy ) * PI2;
				shadow = (
					texture( shadowMap, vec3( shadowCoord.xy + vogelDiskSample( 0, 5, phi ) * radius, shadowCoord.z ) ) +
					texture( shadowMap, vec3( shadowCoord.xy + vogelDiskSample( 1, 5, phi ) * radius, shadowCoord.z ) ) +
					texture( shadowMap, vec3( shadowCoord.xy + vogelDiskSample( 2, 5, phi ) * radius, shadowCoord.z ) ) +
					texture( shadowMap, vec3( shadowCoord.xy + vogelDiskSample( 3, 5, phi ) * radius, shadowCoord.z ) ) +
					texture( shadowMap, vec3( shadowCoord.xy + vogelDiskSample( 4, 5, phi ) * radius, shadowCoord.z ) )
				) * 0.2;
			}
			return mix( 1.0, shadow, shadowIntensity );
		}
	#elif defined( SHADOWMAP_TYPE_VSM )
		float getShadow( sampler2D shadowMap, vec2 shadowMapSize, float shadowIntensity, float shadowBias, float shadowRadius, vec4 shadowCoord ) {
			float shadow = 1.0;
			shadowCoord.xyz /= shadowCoord.w;
			#ifdef USE_REVERSED_DEPTH_BUFFER
				shadowCoord.z -= shadowBias;
			#else
				shadowCoord.z += shadowBias;
			#endif
			bool inFrustum = shadowCoord.x >= 0.0 && shadowCoord.x <= 1.0 && shadowCoord.y >= 0.0 && shadowCoord.y <= 1.0;
			bool frustumTest = inFrustum && shadowCoord.z <= 1.0;
			if ( frustumTest ) {
				vec2 distribution = texture2D( shadowMap, shadowCoord.xy ).rg;
				float mean = distribution.x;
				float variance = distribution.y * distribution.y;
				#ifdef USE_REVERSED_DEPTH_BUFFER
					float hard_shadow = step( mean, shadowCoord.z );
				#else
					float hard_shadow = step( shadowCoord.z, mean );
				#endif
				
				if ( hard_shadow == 1.0 ) {
					shadow = 1.0;
				} else {
					variance = max( variance, 0.0000001 );
					float d = shadowCoord.z - mean;
					float p_max = variance / ( variance + d * d );
					p_max = clamp( ( p_max - 0.3 ) / 0.65, 0.0, 1.0 );
					shadow = max( hard_shadow, p_max );
				}
			}
			return mix( 1.0, shadow, shadowIntensity );
		}
	#else
		float getShadow( sampler2D shadowMap, vec2 shadowMapSize, float shadowIntensity, float shadowBias, float shadowRadius, vec4 shadowCoord ) {
			float shadow = 1.0;
			shadowCoord.xyz /= shadowCoord.w;
			#ifdef USE_REVERSED_DEPTH_BUFFER
				shadowCoord.z -= shadowBias;
			#else
				shadowCoord.z += shadowBias;
			#endif
			bool inFrustum = shadowCoord.x >= 0.0 && shadowCoord.x <= 1.0 && shadowCoord.y >= 0.0 && shadowCoord.y <= 1.0;
			bool frustumTest = inFrustum && shadowCoord.z <= 1.0;
			if ( frustumTest ) {
				float depth = texture2D( shadowMap, shadowCoord.xy ).r;
				#ifdef USE_REVERSED_DEPTH_BUFFER
					shadow = step( depth, shadowCoord.z );
				#else
					shadow = step( shadowCoord.z, depth );
				#endif
			}
			return mix( 1.0, shadow, shadowIntensity );
		}
	#endif
	#if NUM_SUN_LIGHT_SHADOWS > 0
		float getSunShadow(
			#if defined( SHADOWMAP_TYPE_PCF )
				sampler2DShadow shadowMap,
			#else
				sampler2D shadowMap,
			#endif
			SunLightShadow sunLightShadow,
			int shadowIndex
		) {
			vec4 shadowWorldPosition = vec4( vSunShadowWorldPosition.xyz + vSunShadowWorldNormal * sunLightShadow.shadowNormalBias, 1.0 );
			float viewDepth = vSunShadowWorldPosition.w;
			int cascadeOffset = shadowIndex * SUN_LIGHT_CASCADES;
			float shadow = 1.0;
			for ( int i = SUN_LIGHT_CASCADES - 1; i >= 0; i -- ) {
				vec4 cascade = sunShadowCascade[ cascadeOffset + i ];
				if ( viewDepth >= cascade.x && viewDepth < cascade.y ) {
					float cascadeShadow = getShadow(
						shadowMap,
						sunLightShadow.shadowMapSize,
						sunLightShadow.shadowIntensity,
						sunLightShadow.shadowBias,
						sunLightShadow.shadowRadius,
						sunShadowMatrix[ cascadeOffset + i ] * shadowWorldPosition
					);
					shadow = mix( cascadeShadow, shadow, smoothstep( cascade.z, cascade.y, viewDepth ) );
				}
			}
			return shadow;
		}
	#endif
	#if NUM_POINT_LIGHT_SHADOWS > 0
	#if defined( SHADOWMAP_TYPE_PCF )
	float getPointShadow( samplerCubeShadow shadowMap, vec2 shadowMapSize, float shadowIntensity, float shadowBias, float shadowRadius, vec4 shadowCoord, float shadowCameraNear, float shadowCameraFar ) {
		float shadow = 1.0;
		vec3 lightToPosition = shadowCoord.xyz;
		vec3 bd3D = normalize( lightToPosition );
		vec3 absVec = abs( lightToPosition );
		float viewSpaceZ = max( max( absVec.x, absVec.y ), absVec.z );
		if ( viewSpaceZ - shadowCameraFar <= 0.0 && viewSpaceZ - shadowCameraNear >= 0.0 ) {
			float lightDistance = length( lightToPosition );
			float depthRange = shadowCameraFar - shadowCameraNear;
			#ifdef USE_REVERSED_DEPTH_BUFFER
				float depthA = - shadowCameraNear / depthRange - shadowBias;
				float depthB = shadowCameraNear * shadowCameraFar / ( depthRange * lightDistance );
			#else
				float depthA = shadowCameraFar / depthRange + shadowBias;
				float depthB = - shadowCameraNear * shadowCameraFar / ( depthRange * lightDistance );
			#endif
			float texelSize = shadowRadius / shadowMapSize.x;
			vec3 absDir = abs( bd3D );
			vec3 tangent = absDir.x > absDir.z ? vec3( 0.0, 1.0, 0.0 ) : vec3( 1.0, 0.0, 0.0 );
			tangent = normalize( cross( bd3D, tangent ) );
			vec3 bitangent = cross( bd3D, tangent );
			float phi = interleavedGradientNoise( gl_FragCoord.xy ) * PI2;
			shadow = 0.0;
			for ( int i = 0; i < 5; i ++ ) {
				vec2 offset = vogelDiskSample( i, 5, phi );
				vec3 direction = bd3D + ( tangent * offset.x + bitangent * offset.y ) * texelSize;
				vec3 absDirection = abs( direction );
				float dp = depthA + depthB / max( max( absDirection.x, absDirection.y ), absDirection.z );
				shadow += texture( shadowMap, vec4( direction, dp ) );
			}
			shadow *= 0.2;
		}
		return mix( 1.0, shadow, shadowIntensity );
	}
	#elif defined( SHADOWMAP_TYPE_BASIC )
	float getPointShadow( samplerCube shadowMap, vec2 shadowMapSize, float shadowIntensity, float shadowBias, float shadowRadius, vec4 shadowCoord, float shadowCameraNear, float shadowCameraFar ) {
		float shadow = 1.0;
		vec3 lightToPosition = shadowCoord.xyz;
		vec3 absVec = abs( lightToPosition );
		float viewSpaceZ = max( max( absVec.x, absVec.y ), absVec.z );
		if ( viewSpaceZ - shadowCameraFar <= 0.0 && viewSpaceZ - shadowCameraNear >= 0.0 ) {
			float dp = ( shadowCameraFar * ( viewSpaceZ - shadowCameraNear ) ) / ( viewSpaceZ * ( shadowCameraFar - shadowCameraNear ) );
			dp += shadowBias;
			vec3 bd3D = normalize( lightToPosition );
			float depth = textureCube( shadowMap, bd3D ).r;
			#ifdef USE_REVERSED_DEPTH_BUFFER
				depth = 1.0 - depth;
			#endif
			shadow = step( dp, depth );
		}
		return mix( 1.0, shadow, shadowIntensity );
	}
	#endif
	#endif
#endif`,shadowmap_pars_vertex:`#if NUM_SPOT_LIGHT_COORDS > 0
	uniform mat4 spotLightMatrix[ NUM_SPOT_LIGHT_COORDS ];
	varying vec4 vSpotLightCoord[ NUM_SPOT_LIGHT_COORDS ];
#endif
#ifdef USE_SHADOWMAP
	#if NUM_SUN_LIGHT_SHADOWS > 0
		varying vec4 vSunShadowWorldPosition;
		varying vec3 vSunShadowWorldNormal;
	#endif
	#if NUM_DIR_LIGHT_SHADOWS > 0
		uniform mat4 directionalShadowMatrix[ NUM_DIR_LIGHT_SHADOWS ];
		varying vec4 vDirectionalShadowCoord[ NUM_DIR_LIGHT_SHADOWS ];
		struct DirectionalLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
		};
		uniform DirectionalLightShadow directionalLightShadows[ NUM_DIR_LIGHT_SHADOWS ];
	#endif
	#if NUM_SPOT_LIGHT_SHADOWS > 0
		struct SpotLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
		};
		uniform SpotLightShadow spotLightShadows[ NUM_SPOT_LIGHT_SHADOWS ];
	#endif
	#if NUM_POINT_LIGHT_SHADOWS > 0
		uniform mat4 pointShadowMatrix[ NUM_POINT_LIGHT_SHADOWS ];
		varying vec4 vPointShadowCoord[ NUM_POINT_LIGHT_SHADOWS ];
		struct PointLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
			float shadowCameraNear;
			float shadowCameraFar;
		};
		uniform PointLightShadow pointLightShadows[ NUM_POINT_LIGHT_SHADOWS ];
	#endif
#endif`,shadowmap_vertex:`#if ( defined( USE_SHADOWMAP ) && ( NUM_DIR_LIGHT_SHADOWS > 0 || NUM_SUN_LIGHT_SHADOWS > 0 || NUM_POINT_LIGHT_SHADOWS > 0 ) ) || ( NUM_SPOT_LIGHT_COORDS > 0 )
	#ifdef HAS_NORMAL
		vec3 shadowWorldNormal = transformNormalByInverseViewMatrix( transformedNormal, viewMatrix );
	#else
		vec3 shadowWorldNormal = vec3( 0.0 );
	#endif
	vec4 shadowWorldPosition;
#endif
#if defined( USE_SHADOWMAP )
	#if NUM_SUN_LIGHT_SHADOWS > 0
		vSunShadowWorldPosition = vec4( worldPosition.xyz, - mvPosition.z );
		vSunShadowWorldNormal = shadowWorldNormal;
	#endif
	#if NUM_DIR_LIGHT_SHADOWS > 0
		#pragma unroll_loop_start
		for ( int i = 0; i < NUM_DIR_LIGHT_SHADOWS; i ++ ) {
			shadowWorldPosition = worldPosition + vec4( shadowWorldNormal * directionalLightShadows[ i ].shadowNormalBias, 0 );
			vDirectionalShadowCoord[ i ] = directionalShadowMatrix[ i ] * shadowWorldPosition;
		}
		#pragma unroll_loop_end
	#endif
	#if NUM_POINT_LIGHT_SHADOWS > 0
		#pragma unroll_loop_start
		for ( int i = 0; i < NUM_POINT_LIGHT_SHADOWS; i ++ ) {
			shadowWorldPosition = worldPosition + vec4( shadowWorldNormal * pointLightShadows[ i ].shadowNormalBias, 0 );
			vPointShadowCoord[ i ] = pointShadowMatrix[ i ] * shadowWorldPosition;
		}
		#pragma unroll_loop_end
	#endif
#endif
#if NUM_SPOT_LIGHT_COORDS > 0
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_SPOT_LIGHT_COORDS; i ++ ) {
		shadowWorldPosition = worldPosition;
		#if ( defined( USE_SHADOWMAP ) && UNROLLED_LOOP_INDEX < NUM_SPOT_LIGHT_SHADOWS )
			shadowWorldPosition.xyz += shadowWorldNormal * spotLightShadows[ i ].shadowNormalBias;
		#endif
		vSpotLightCoord[ i ] = spotLightMatrix[ i ] * shadowWorldPosition;
	}
	#pragma unroll_loop_end
#endif`,shadowmask_pars_fragment:`float getShadowMask() {
	float shadow = 1.0;
	#ifdef USE_SHADOWMAP
	#if NUM_SUN_LIGHT_SHADOWS > 0
	SunLightShadow sunLight;
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_SUN_LIGHT_SHADOWS; i ++ ) {
		sunLight = sunLightShadows[ i ];
		shadow *= receiveShadow ? getSunShadow( sunShadowMap[ i ], sunLight, UNROLLED_LOOP_INDEX ) : 1.0;
	}
	#pragma unroll_loop_end
	#endif
	#if NUM_DIR_LIGHT_SHADOWS > 0
	DirectionalLightShadow directionalLight;
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_DIR_LIGHT_SHADOWS; i ++ ) {
		directionalLight = directionalLightShadows[ i ];
		shadow *= receiveShadow ? getShadow( directionalShadowMap[ i ], directionalLight.shadowMapSize, directionalLight.shadowIntensity, directionalLight.shadowBias, directionalLight.shadowRadius, vDirectionalShadowCoord[ i ] ) : 1.0;
	}
	#pragma unroll_loop_end
	#endif
	#if NUM_SPOT_LIGHT_SHADOWS > 0
	SpotLightShadow spotLight;
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_SPOT_LIGHT_SHADOWS; i ++ ) {
		spotLight = spotLightShadows[ i ];
		shadow *= receiveShadow ? getShadow( spotShadowMap[ i ], spotLight.shadowMapSize, spotLight.shadowIntensity, spotLight.shadowBias, spotLight.shadowRadius, vSpotLightCoord[ i ] ) : 1.0;
	}
	#pragma unroll_loop_end
	#endif
	#if NUM_POINT_LIGHT_SHADOWS > 0 && ( defined( SHADOWMAP_TYPE_PCF ) || defined( SHADOWMAP_TYPE_BASIC ) )
	PointLightShadow pointLight;
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_POINT_LIGHT_SHADOWS; i ++ ) {
		pointLight = pointLightShadows[ i ];
		shadow *= receiveShadow ? getPointShadow( pointShadowMap[ i ], pointLight.shadowMapSize, pointLight.shadowIntensity, pointLight.shadowBias, pointLight.shadowRadius, vPointShadowCoord[ i ], pointLight.shadowCameraNear, pointLight.shadowCameraFar ) : 1.0;
	}
	#pragma unroll_loop_end
	#endif
	#endif
	return shadow;
}`,skinbase_vertex:`#ifdef USE_SKINNING
	mat4 boneMatX = getBoneMatrix( skinIndex.x );
	mat4 boneMatY = getBoneMatrix( skinIndex.y );
	mat4 boneMatZ = getBoneMatrix( skinIndex.z );
	mat4 boneMatW = getBoneMatrix( skinIndex.w );
#endif`,skinning_pars_vertex:`#ifdef USE_SKINNING
	uniform mat4 bindMatrix;
	uniform mat4 bindMatrixInverse;
	uniform highp sampler2D boneTexture;
	mat4 getBoneMatrix( const in float i ) {
		int size = textureSize( boneTexture, 0 ).x;
		int j = int( i ) * 4;
		int x = j % size;
		int y = j / size;
		vec4 v1 = texelFetch( boneTexture, ivec2( x, y ), 0 );
		vec4 v2 = texelFetch( boneTexture, ivec2( x + 1, y ), 0 );
		vec4 v3 = texelFetch( boneTexture, ivec2( x + 2, y ), 0 );
		vec4 v4 = texelFetch( boneTexture, ivec2( x + 3, y ), 0 );
		return mat4( v1, v2, v3, v4 );
	}
#endif`,skinning_vertex:`#ifdef USE_SKINNING
	vec4 skinVertex = bindMatrix * vec4( transformed, 1.0 );
	vec4 skinned = vec4( 0.0 );
	skinned += boneMatX * skinVertex * skinWeight.x;
	skinned += boneMatY * skinVertex * skinWeight.y;
	skinned += boneMatZ * skinVertex * skinWeight.z;
	skinned += boneMatW * skinVertex * skinWeight.w;
	transformed = ( bindMatrixInverse * skinned ).xyz;
#endif`,skinnormal_vertex:`#ifdef USE_SKINNING
	mat4 skinMatrix = mat4( 0.0 );
	skinMatrix += skinWeight.x * boneMatX;
	skinMatrix += skinWeight.y * boneMatY;
	skinMatrix += skinWeight.z * boneMatZ;
	skinMatrix += skinWeight.w * boneMatW;
	skinMatrix = bindMatrixInverse * skinMatrix * bindMatrix;
	objectNormal = vec4( skinMatrix * vec4( objectNormal, 0.0 ) ).xyz;
	#ifdef USE_TANGENT
		objectTangent = vec4( skinMatrix * vec4( objectTangent, 0.0 ) ).xyz;
	#endif
#endif`,specularmap_fragment:`float specularStrength;
#ifdef USE_SPECULARMAP
	vec4 texelSpecular = texture2D( specularMap, vSpecularMapUv );
	specularStrength = texelSpecular.r;
#else
	specularStrength = 1.0;
#endif`,specularmap_pars_fragment:`#ifdef USE_SPECULARMAP
	uniform sampler2D specularMap;
#endif`,tonemapping_fragment:`#if defined( TONE_MAPPING )
	gl_FragColor.rgb = toneMapping( gl_FragColor.rgb );
#endif`,tonemapping_pars_fragment:`#ifndef saturate
#define saturate( a ) clamp( a, 0.0, 1.0 )
#endif
uniform float toneMappingExposure;
vec3 LinearToneMapping( vec3 color ) {
	return saturate( toneMappingExposure * color );
}
vec3 ReinhardToneMapping( vec3 color ) {
	color *= toneMappingExposure;
	return saturate( color / ( vec3( 1.0 ) + color ) );
}
vec3 CineonToneMapping( vec3 color ) {
	color *= toneMappingExposure;
	color = max( vec3( 0.0 ), color - 0.004 );
	return pow( ( color * ( 6.2 * color + 0.5 ) ) / ( color * ( 6.2 * color + 1.7 ) + 0.06 ), vec3( 2.2 ) );
}
vec3 RRTAndODTFit( vec3 v ) {
	vec3 a = v * ( v + 0.0245786 ) - 0.000090537;
	vec3 b = v * ( 0.983729 * v + 0.4329510 ) + 0.238081;
	return a / b;
}
vec3 ACESFilmicToneMapping( vec3 color ) {
	const mat3 ACESInputMat = mat3(
		vec3( 0.59719, 0.07600, 0.02840 ),		vec3( 0.35458, 0.90834, 0.13383 ),
		vec3( 0.04823, 0.01566, 0.83777 )
	);
	const mat3 ACESOutputMat = mat3(
		vec3(  1.60475, -0.10208, -0.00327 ),		vec3( -0.53108,  1.10813, -0.07276 ),
		vec3( -0.07367, -0.00605,  1.07602 )
	);
	color *= toneMappingExposure / 0.6;
	color = ACESInputMat * color;
	color = RRTAndODTFit( color );
	color = ACESOutputMat * color;
	return saturate( color );
}
const mat3 LINEAR_REC2020_TO_LINEAR_SRGB = mat3(
	vec3( 1.6605, - 0.1246, - 0.0182 ),
	vec3( - 0.5876, 1.1329, - 0.1006 ),
	vec3( - 0.0728, - 0.0083, 1.1187 )
);
const mat3 LINEAR_SRGB_TO_LINEAR_REC2020 = mat3(
	vec3( 0.6274, 0.0691, 0.0164 ),
	vec3( 0.3293, 0.9195, 0.0880 ),
	vec3( 0.0433, 0.0113, 0.8956 )
);
vec3 agxDefaultContrastApprox( vec3 x ) {
	vec3 x2 = x * x;
	vec3 x4 = x2 * x2;
	return + 15.5 * x4 * x2
		- 40.14 * x4 * x
		+ 31.96 * x4
		- 6.868 * x2 * x
		+ 0.4298 * x2
		+ 0.1191 * x
		- 0.00232;
}
vec3 AgXToneMapping( vec3 color ) {
	const mat3 AgXInsetMatrix = mat3(
		vec3( 0.856627153315983, 0.137318972929847, 0.11189821299995 ),
		vec3( 0.0951212405381588, 0.761241990602591, 0.0767994186031903 ),
		vec3( 0.0482516061458583, 0.101439036467562, 0.811302368396859 )
	);
	const mat3 AgXOutsetMatrix = mat3(
		vec3( 1.1271005818144368, - 0.1413297634984383, - 0.14132976349843826 ),
		vec3( - 0.11060664309660323, 1.157823702216272, - 0.11060664309660294 ),
		vec3( - 0.016493938717834573, - 0.016493938717834257, 1.2519364065950405 )
	);
	const float AgxMinEv = - 12.47393;	const float AgxMaxEv = 4.026069;
	color *= toneMappingExposure;
	color = LINEAR_SRGB_TO_LINEAR_REC2020 * color;
	color = AgXInsetMatrix * color;
	color = max( color, 1e-10 );	color = log2( color );
	color = ( color - AgxMinEv ) / ( AgxMaxEv - AgxMinEv );
	color = clamp( color, 0.0, 1.0 );
	color = agxDefaultContrastApprox( color );
	color = AgXOutsetMatrix * color;
	color = pow( max( vec3( 0.0 ), color ), vec3( 2.2 ) );
	color = LINEAR_REC2020_TO_LINEAR_SRGB * color;
	color = clamp( color, 0.0, 1.0 );
	return color;
}
vec3 NeutralToneMapping( vec3 color ) {
	const float StartCompression = 0.8 - 0.04;
	const float Desaturation = 0.15;
	color *= toneMappingExposure;
	float x = min( color.r, min( color.g, color.b ) );
	float offset = x < 0.08 ? x - 6.25 * x * x : 0.04;
	color -= offset;
	float peak = max( color.r, max( color.g, color.b ) );
	if ( peak < StartCompression ) return color;
	float d = 1. - StartCompression;
	float newPeak = 1. - d * d / ( peak + d - StartCompression );
	color *= newPeak / peak;
	float g = 1. - 1. / ( Desaturation * ( peak - newPeak ) + 1. );
	return mix( color, vec3( newPeak ), g );
}
vec3 CustomToneMapping( vec3 color ) { return color; }`,transmission_fragment:`#ifdef USE_TRANSMISSION
	material.transmission = transmission;
	material.transmissionAlpha = 1.0;
	material.thickness = thickness;
	material.attenuationDistance = attenuationDistance;
	material.attenuationColor = attenuationColor;
	#ifdef USE_TRANSMISSIONMAP
		material.transmission *= texture2D( transmissionMap, vTransmissionMapUv ).r;
	#endif
	#ifdef USE_THICKNESSMAP
		material.thickness *= texture2D( thicknessMap, vThicknessMapUv ).g;
	#endif
	vec3 pos = vWorldPosition;
	vec3 v = normalize( cameraPosition - pos );
	vec3 n = transformNormalByInverseViewMatrix( normal, viewMatrix );
	vec4 transmitted = getIBLVolumeRefraction(
		n, v, material.roughness, material.diffuseContribution, material.specularColorBlended, material.specularF90,
		pos, modelMatrix, viewMatrix, projectionMatrix, material.dispersion, material.ior, material.thickness,
		material.attenuationColor, material.attenuationDistance );
	material.transmissionAlpha = mix( material.transmissionAlpha, transmitted.a, material.transmission );
	totalDiffuse = mix( totalDiffuse, transmitted.rgb, material.transmission );
#endif`,transmission_pars_fragment:`#ifdef USE_TRANSMISSION
	uniform float transmission;
	uniform float thickness;
	uniform float attenuationDistance;
	uniform vec3 attenuationColor;
	#ifdef USE_TRANSMISSIONMAP
		uniform sampler2D transmissionMap;
	#endif
	#ifdef USE_THICKNESSMAP
		uniform sampler2D thicknessMap;
	#endif
	uniform vec2 transmissionSamplerSize;
	uniform sampler2D transmissionSamplerMap;
	uniform mat4 modelMatrix;
	uniform mat4 projectionMatrix;
	varying vec3 vWorldPosition;
	float w0( float a ) {
		return ( 1.0 / 6.0 ) * ( a * ( a * ( - a + 3.0 ) - 3.0 ) + 1.0 );
	}
	float w1( float a ) {
		return ( 1.0 / 6.0 ) * ( a *  a * ( 3.0 * a - 6.0 ) + 4.0 );
	}
	float w2( float a ){
		return ( 1.0 / 6.0 ) * ( a * ( a * ( - 3.0 * a + 3.0 ) + 3.0 ) + 1.0 );
	}
	float w3( float a ) {
		return ( 1.0 / 6.0 ) * ( a * a * a );
	}
	float g0( float a ) {
		return w0( a ) + w1( a );
	}
	float g1( float a ) {
		return w2( a ) + w3( a );
	}
	float h0( float a ) {
		return - 1.0 + w1( a ) / ( w0( a ) + w1( a ) );
	}
	float h1( float a ) {
		return 1.0 + w3( a ) / ( w2( a ) + w3( a ) );
	}
	vec4 bicubic( sampler2D tex, vec2 uv, vec4 texelSize, float lod ) {
		uv = uv * texelSize.zw + 0.5;
		vec2 iuv = floor( uv );
		vec2 fuv = fract( uv );
		float g0x = g0( fuv.x );
		float g1x = g1( fuv.x );
		float h0x = h0( fuv.x );
		float h1x = h1( fuv.x );
		float h0y = h0( fuv.y );
		float h1y = h1( fuv.y );
		vec2 p0 = ( vec2( iuv.x + h0x, iuv.y + h0y ) - 0.5 ) * texelSize.xy;
		vec2 p1 = ( vec2( iuv.x + h1x, iuv.y + h0y ) - 0.5 ) * texelSize.xy;
		vec2 p2 = ( vec2( iuv.x + h0x, iuv.y + h1y ) - 0.5 ) * texelSize.xy;
		vec2 p3 = ( vec2( iuv.x + h1x, iuv.y + h1y ) - 0.5 ) * texelSize.xy;
		return g0( fuv.y ) * ( g0x * textureLod( tex, p0, lod ) + g1x * textureLod( tex, p1, lod ) ) +
			g1( fuv.y ) * ( g0x * textureLod( tex, p2, lod ) + g1x * textureLod( tex, p3, lod ) );
	}
	vec4 textureBicubic( sampler2D sampler, vec2 uv, float lod ) {
		vec2 fLodSize = vec2( textureSize( sampler, int( lod ) ) );
		vec2 cLodSize = vec2( textureSize( sampler, int( lod + 1.0 ) ) );
		vec2 fLodSizeInv = 1.0 / fLodSize;
		vec2 cLodSizeInv = 1.0 / cLodSize;
		vec4 fSample = bicubic( sampler, uv, vec4( fLodSizeInv, fLodSize ), floor( lod ) );
		vec4 cSample = bicubic( sampler, uv, vec4( cLodSizeInv, cLodSize ), ceil( lod ) );
		return mix( fSample, cSample, fract( lod ) );
	}
	vec3 getVolumeTransmissionRay( const in vec3 n, const in vec3 v, const in float thickness, const in float ior, const in mat4 modelMatrix ) {
		vec3 refractionVector = refract( - v, normalize( n ), 1.0 / ior );
		vec3 modelScale;
		modelScale.x = length( vec3( modelMatrix[ 0 ].xyz ) );
		modelScale.y = length( vec3( modelMatrix[ 1 ].xyz ) );
		modelScale.z = length( vec3( modelMatrix[ 2 ].xyz ) );
		return normalize( refractionVector ) * thickness * modelScale;
	}
	float applyIorToRoughness( const in float roughness, const in float ior ) {
		return roughness * clamp( ior * 2.0 - 2.0, 0.0, 1.0 );
	}
	vec4 getTransmissionSample( const in vec2 fragCoord, const in float roughness, const in float ior ) {
		float lod = log2( transmissionSamplerSize.x ) * applyIorToRoughness( roughness, ior );
		return textureBicubic( transmissionSamplerMap, fragCoord.xy, lod );
	}
	vec3 volumeAttenuation( const in float transmissionDistance, const in vec3 attenuationColor, const in float attenuationDistance ) {
		if ( isinf( attenuationDistance ) ) {
			return vec3( 1.0 );
		} else {
			vec3 attenuationCoefficient = -log( attenuationColor ) / attenuationDistance;
			vec3 transmittance = exp( - attenuationCoefficient * transmissionDistance );			return transmittance;
		}
	}
	vec4 getIBLVolumeRefraction( const in vec3 n, const in vec3 v, const in float roughness, const in vec3 diffuseColor,
		const in vec3 specularColor, const in float specularF90, const in vec3 position, const in mat4 modelMatrix,
		const in mat4 viewMatrix, const in mat4 projMatrix, const in float dispersion, const in float ior, const in float thickness,
		const in vec3 attenuationColor, const in float attenuationDistance ) {
		vec4 transmittedLight;
		vec3 transmittance;
		#ifdef USE_DISPERSION
			float halfSpread = ( ior - 1.0 ) * 0.025 * dispersion;
			vec3 iors = vec3( ior - halfSpread, ior, ior + halfSpread );
			for ( int i = 0; i < 3; i ++ ) {
				vec3 transmissionRay = getVolumeTransmissionRay( n, v, thickness, iors[ i ], modelMatrix );
				vec3 refractedRayExit = position + transmissionRay;
				vec4 ndcPos = projMatrix * viewMatrix * vec4( refractedRayExit, 1.0 );
				vec2 refractionCoords = ndcPos.xy / ndcPos.w;
				refractionCoords += 1.0;
				refractionCoords /= 2.0;
				vec4 transmissionSample = getTransmissionSample( refractionCoords, roughness, iors[ i ] );
				transmittedLight[ i ] = transmissionSample[ i ];
				transmittedLight.a += transmissionSample.a;
				transmittance[ i ] = diffuseColor[ i ] * volumeAttenuation( length( transmissionRay ), attenuationColor, attenuationDistance )[ i ];
			}
			transmittedLight.a /= 3.0;
		#else
			vec3 transmissionRay = getVolumeTransmissionRay( n, v, thickness, ior, modelMatrix );
			vec3 refractedRayExit = position + transmissionRay;
			vec4 ndcPos = projMatrix * viewMatrix * vec4( refractedRayExit, 1.0 );
			vec2 refractionCoords = ndcPos.xy / ndcPos.w;
			refractionCoords += 1.0;
			refractionCoords /= 2.0;
			transmittedLight = getTransmissionSample( refractionCoords, roughness, ior );
			transmittance = diffuseColor * volumeAttenuation( length( transmissionRay ), attenuationColor, attenuationDistance );
		#endif
		vec3 attenuatedColor = transmittance * transmittedLight.rgb;
		vec3 F = EnvironmentBRDF( n, v, specularColor, specularF90, roughness );
		float transmittanceFactor = ( transmittance.r + transmittance.g + transmittance.b ) / 3.0;
		return vec4( ( 1.0 - F ) * attenuatedColor, 1.0 - ( 1.0 - transmittedLight.a ) * transmittanceFactor );
	}
#endif`,uv_pars_fragment:`#if defined( USE_UV ) || defined( USE_ANISOTROPY )
	varying vec2 vUv;
#endif
#ifdef USE_MAP
	varying vec2 vMapUv;
#endif
#ifdef USE_ALPHAMAP
	varying vec2 vAlphaMapUv;
#endif
#ifdef USE_LIGHTMAP
	varying vec2 vLightMapUv;
#endif
#ifdef USE_AOMAP
	varying vec2 vAoMapUv;
#endif
#ifdef USE_BUMPMAP
	varying vec2 vBumpMapUv;
#endif
#ifdef USE_NORMALMAP
	varying vec2 vNormalMapUv;
#endif
#ifdef USE_EMISSIVEMAP
	varying vec2 vEmissiveMapUv;
#endif
#ifdef USE_METALNESSMAP
	varying vec2 vMetalnessMapUv;
#endif
#ifdef USE_ROUGHNESSMAP
	varying vec2 vRoughnessMapUv;
#endif
#ifdef USE_DIFFUSE_ROUGHNESSMAP
	varying vec2 vDiffuseRoughnessMapUv;
#endif
#ifdef USE_ANISOTROPYMAP
	varying vec2 vAnisotropyMapUv;
#endif
#ifdef USE_CLEARCOATMAP
	varying vec2 vClearcoatMapUv;
#endif
#ifdef USE_CLEARCOAT_NORMALMAP
	varying vec2 vClearcoatNormalMapUv;
#endif
#ifdef USE_CLEARCOAT_ROUGHNESSMAP
	varying vec2 vClearcoatRoughnessMapUv;
#endif
#ifdef USE_IRIDESCENCEMAP
	varying vec2 vIridescenceMapUv;
#endif
#ifdef USE_IRIDESCENCE_THICKNESSMAP
	varying vec2 vIridescenceThicknessMapUv;
#endif
#ifdef USE_SHEEN_COLORMAP
	varying vec2 vSheenColorMapUv;
#endif
#ifdef USE_SHEEN_ROUGHNESSMAP
	varying vec2 vSheenRoughnessMapUv;
#endif
#ifdef USE_SPECULARMAP
	varying vec2 vSpecularMapUv;
#endif
#ifdef USE_SPECULAR_COLORMAP
	varying vec2 vSpecularColorMapUv;
#endif
#ifdef USE_SPECULAR_INTENSITYMAP
	varying vec2 vSpecularIntensityMapUv;
#endif
#ifdef USE_TRANSMISSIONMAP
	uniform mat3 transmissionMapTransform;
	varying vec2 vTransmissionMapUv;
#endif
#ifdef USE_THICKNESSMAP
	uniform mat3 thicknessMapTransform;
	varying vec2 vThicknessMapUv;
#endif`,uv_pars_vertex:`#if defined( USE_UV ) || defined( USE_ANISOTROPY )
	varying vec2 vUv;
#endif
#ifdef USE_MAP
	uniform mat3 mapTransform;
	varying vec2 vMapUv;
#endif
#ifdef USE_ALPHAMAP
	uniform mat3 alphaMapTransform;
	varying vec2 vAlphaMapUv;
#endif
#ifdef USE_LIGHTMAP
	uniform mat3 lightMapTransform;
	varying vec2 vLightMapUv;
#endif
#ifdef USE_AOMAP
	uniform mat3 aoMapTransform;
	varying vec2 vAoMapUv;
#endif
#ifdef USE_BUMPMAP
	uniform mat3 bumpMapTransform;
	varying vec2 vBumpMapUv;
#endif
#ifdef USE_NORMALMAP
	uniform mat3 normalMapTransform;
	varying vec2 vNormalMapUv;
#endif
#ifdef USE_DISPLACEMENTMAP
	uniform mat3 displacementMapTransform;
	varying vec2 vDisplacementMapUv;
#endif
#ifdef USE_EMISSIVEMAP
	uniform mat3 emissiveMapTransform;
	varying vec2 vEmissiveMapUv;
#endif
#ifdef USE_METALNESSMAP
	uniform mat3 metalnessMapTransform;
	varying vec2 vMetalnessMapUv;
#endif
#ifdef USE_ROUGHNESSMAP
	uniform mat3 roughnessMapTransform;
	varying vec2 vRoughnessMapUv;
#endif
#ifdef USE_DIFFUSE_ROUGHNESSMAP
	uniform mat3 diffuseRoughnessMapTransform;
	varying vec2 vDiffuseRoughnessMapUv;
#endif
#ifdef USE_ANISOTROPYMAP
	uniform mat3 anisotropyMapTransform;
	varying vec2 vAnisotropyMapUv;
#endif
#ifdef USE_CLEARCOATMAP
	uniform mat3 clearcoatMapTransform;
	varying vec2 vClearcoatMapUv;
#endif
#ifdef USE_CLEARCOAT_NORMALMAP
	uniform mat3 clearcoatNormalMapTransform;
	varying vec2 vClearcoatNormalMapUv;
#endif
#ifdef USE_CLEARCOAT_ROUGHNESSMAP
	uniform mat3 clearcoatRoughnessMapTransform;
	varying vec2 vClearcoatRoughnessMapUv;
#endif
#ifdef USE_SHEEN_COLORMAP
	uniform mat3 sheenColorMapTransform;
	varying vec2 vSheenColorMapUv;
#endif
#ifdef USE_SHEEN_ROUGHNESSMAP
	uniform mat3 sheenRoughnessMapTransform;
	varying vec2 vSheenRoughnessMapUv;
#endif
#ifdef USE_IRIDESCENCEMAP
	uniform mat3 iridescenceMapTransform;
	varying vec2 vIridescenceMapUv;
#endif
#ifdef USE_IRIDESCENCE_THICKNESSMAP
	uniform mat3 iridescenceThicknessMapTransform;
	varying vec2 vIridescenceThicknessMapUv;
#endif
#ifdef USE_SPECULARMAP
	uniform mat3 specularMapTransform;
	varying vec2 vSpecularMapUv;
#endif
#ifdef USE_SPECULAR_COLORMAP
	uniform mat3 specularColorMapTransform;
	varying vec2 vSpecularColorMapUv;
#endif
#ifdef USE_SPECULAR_INTENSITYMAP
	uniform mat3 specularIntensityMapTransform;
	varying vec2 vSpecularIntensityMapUv;
#endif
#ifdef USE_TRANSMISSIONMAP
	uniform mat3 transmissionMapTransform;
	varying vec2 vTransmissionMapUv;
#endif
#ifdef USE_THICKNESSMAP
	uniform mat3 thicknessMapTransform;
	varying vec2 vThicknessMapUv;
#endif`,uv_vertex:`#if defined( USE_UV ) || defined( USE_ANISOTROPY )
	vUv = vec3( uv, 1 ).xy;
#endif
#ifdef USE_MAP
	vMapUv = ( mapTransform * vec3( MAP_UV, 1 ) ).xy;
#endif
#ifdef USE_ALPHAMAP
	vAlphaMapUv = ( alphaMapTransform * vec3( ALPHAMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_LIGHTMAP
	vLightMapUv = ( lightMapTransform * vec3( LIGHTMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_AOMAP
	vAoMapUv = ( aoMapTransform * vec3( AOMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_BUMPMAP
	vBumpMapUv = ( bumpMapTransform * vec3( BUMPMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_NORMALMAP
	vNormalMapUv = ( normalMapTransform * vec3( NORMALMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_DISPLACEMENTMAP
	vDisplacementMapUv = ( displacementMapTransform * vec3( DISPLACEMENTMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_EMISSIVEMAP
	vEmissiveMapUv = ( emissiveMapTransform * vec3( EMISSIVEMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_METALNESSMAP
	vMetalnessMapUv = ( metalnessMapTransform * vec3( METALNESSMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_ROUGHNESSMAP
	vRoughnessMapUv = ( roughnessMapTransform * vec3( ROUGHNESSMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_DIFFUSE_ROUGHNESSMAP
	vDiffuseRoughnessMapUv = ( diffuseRoughnessMapTransform * vec3( DIFFUSE_ROUGHNESSMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_ANISOTROPYMAP
	vAnisotropyMapUv = ( anisotropyMapTransform * vec3( ANISOTROPYMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_CLEARCOATMAP
	vClearcoatMapUv = ( clearcoatMapTransform * vec3( CLEARCOATMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_CLEARCOAT_NORMALMAP
	vClearcoatNormalMapUv = ( clearcoatNormalMapTransform * vec3( CLEARCOAT_NORMALMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_CLEARCOAT_ROUGHNESSMAP
	vClearcoatRoughnessMapUv = ( clearcoatRoughnessMapTransform * vec3( CLEARCOAT_ROUGHNESSMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_IRIDESCENCEMAP
	vIridescenceMapUv = ( iridescenceMapTransform * vec3( IRIDESCENCEMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_IRIDESCENCE_THICKNESSMAP
	vIridescenceThicknessMapUv = ( iridescenceThicknessMapTransform * vec3( IRIDESCENCE_THICKNESSMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_SHEEN_COLORMAP
	vSheenColorMapUv = ( sheenColorMapTransform * vec3( SHEEN_COLORMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_SHEEN_ROUGHNESSMAP
	vSheenRoughnessMapUv = ( sheenRoughnessMapTransform * vec3( SHEEN_ROUGHNESSMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_SPECULARMAP
	vSpecularMapUv = ( specularMapTransform * vec3( SPECULARMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_SPECULAR_COLORMAP
	vSpecularColorMapUv = ( specularColorMapTransform * vec3( SPECULAR_COLORMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_SPECULAR_INTENSITYMAP
	vSpecularIntensityMapUv = ( specularIntensityMapTransform * vec3( SPECULAR_INTENSITYMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_TRANSMISSIONMAP
	vTransmissionMapUv = ( transmissionMapTransform * vec3( TRANSMISSIONMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_THICKNESSMAP
	vThicknessMapUv = ( thicknessMapTransform * vec3( THICKNESSMAP_UV, 1 ) ).xy;
#endif`,worldpos_vertex:`#if defined( USE_ENVMAP ) || defined( DISTANCE ) || defined ( USE_SHADOWMAP ) || defined ( USE_TRANSMISSION ) || NUM_SPOT_LIGHT_COORDS > 0
	vec4 worldPosition = vec4( transformed, 1.0 );
	#ifdef USE_BATCHING
		worldPosition = batchingMatrix * worldPosition;
	#endif
	#ifdef USE_INSTANCING
		worldPosition = instanceMatrix * worldPosition;
	#endif
	worldPosition = modelMatrix * worldPosition;
#endif`,background_vert:`varying vec2 vUv;
uniform mat3 uvTransform;
void main() {
	vUv = ( uvTransform * vec3( uv, 1 ) ).xy;
	gl_Position = vec4( position.xy, 1.0, 1.0 );
}`,background_frag:`uniform sampler2D t2D;
uniform float backgroundIntensity;
varying vec2 vUv;
void main() {
	vec4 texColor = texture2D( t2D, vUv );
	#ifdef DECODE_VIDEO_TEXTURE
		texColor = vec4( mix( pow( texColor.rgb * 0.9478672986 + vec3( 0.0521327014 ), vec3( 2.4 ) ), texColor.rgb * 0.0773993808, vec3( lessThanEqual( texColor.rgb, vec3( 0.04045 ) ) ) ), texColor.w );
	#endif
	texColor.rgb *= backgroundIntensity;
	gl_FragColor = texColor;
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
}`,backgroundCube_vert:`varying vec3 vWorldDirection;
#include <common>
void main() {
	vWorldDirection = transformDirection( position, modelMatrix );
	#include <begin_vertex>
	#include <project_vertex>
	gl_Position.z = gl_Position.w;
}`,backgroundCube_frag:`uniform float backgroundBlurriness;
uniform float backgroundIntensity;
uniform mat3 backgroundRotation;
varying vec3 vWorldDirection;
#include <envmap_common_pars_fragment>
void main() {
	#ifdef ENVMAP_TYPE_PMREM
		vec4 texColor = textureLod( envMap, backgroundRotation * vWorldDirection, roughnessToMip( backgroundBlurriness ) );
	#else
		vec4 texColor = textureCube( envMap, backgroundRotation * vWorldDirection );
	#endif
	texColor.rgb *= backgroundIntensity;
	gl_FragColor = texColor;
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
}`,cube_vert:`varying vec3 vWorldDirection;
#include <common>
void main() {
	vWorldDirection = transformDirection( position, modelMatrix );
	#include <begin_vertex>
	#include <project_vertex>
	gl_Position.z = gl_Position.w;
}`,cube_frag:`uniform samplerCube tCube;
uniform float tFlip;
uniform float opacity;
varying vec3 vWorldDirection;
void main() {
	vec4 texColor = textureCube( tCube, vec3( tFlip * vWorldDirection.x, vWorldDirection.yz ) );
	gl_FragColor = texColor;
	gl_FragColor.a *= opacity;
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
}`,depth_vert:`#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
varying vec2 vHighPrecisionZW;
void main() {
	#include <uv_vertex>
	#include <batching_vertex>
	#include <skinbase_vertex>
	#include <morphinstance_vertex>
	#ifdef USE_DISPLACEMENTMAP
		#include <beginnormal_vertex>
		#include <morphnormal_vertex>
		#include <skinnormal_vertex>
	#endif
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	vHighPrecisionZW = gl_Position.zw;
}`,depth_frag:`#if DEPTH_PACKING == 3200
	uniform float opacity;
#endif
#include <common>
#include <packing>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
varying vec2 vHighPrecisionZW;
void main() {
	vec4 diffuseColor = vec4( 1.0 );
	#include <clipping_planes_fragment>
	#if DEPTH_PACKING == 3200
		diffuseColor.a = opacity;
	#endif
	#include <map_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <logdepthbuf_fragment>
	#ifdef USE_REVERSED_DEPTH_BUFFER
		float fragCoordZ = vHighPrecisionZW[ 0 ] / vHighPrecisionZW[ 1 ];
	#else
		float fragCoordZ = 0.5 * vHighPrecisionZW[ 0 ] / vHighPrecisionZW[ 1 ] + 0.5;
	#endif
	#if DEPTH_PACKING == 3200
		gl_FragColor = vec4( vec3( 1.0 - fragCoordZ ), opacity );
	#elif DEPTH_PACKING == 3201
		gl_FragColor = packDepthToRGBA( fragCoordZ );
	#elif DEPTH_PACKING == 3202
		gl_FragColor = vec4( packDepthToRGB( fragCoordZ ), 1.0 );
	#elif DEPTH_PACKING == 3203
		gl_FragColor = vec4( packDepthToRG( fragCoordZ ), 0.0, 1.0 );
	#endif
}`,distance_vert:`#define DISTANCE
varying vec3 vWorldPosition;
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <batching_vertex>
	#include <skinbase_vertex>
	#include <morphinstance_vertex>
	#ifdef USE_DISPLACEMENTMAP
		#include <beginnormal_vertex>
		#include <morphnormal_vertex>
		#include <skinnormal_vertex>
	#endif
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <worldpos_vertex>
	#include <clipping_planes_vertex>
	vWorldPosition = worldPosition.xyz;
}`,distance_frag:`#define DISTANCE
uniform vec3 referencePosition;
uniform float nearDistance;
uniform float farDistance;
varying vec3 vWorldPosition;
#include <common>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( 1.0 );
	#include <clipping_planes_fragment>
	#include <map_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	float dist = length( vWorldPosition - referencePosition );
	dist = ( dist - nearDistance ) / ( farDistance - nearDistance );
	dist = saturate( dist );
	gl_FragColor = vec4( dist, 0.0, 0.0, 1.0 );
}`,equirect_vert:`varying vec3 vWorldDirection;
#include <common>
void main() {
	vWorldDirection = transformDirection( position, modelMatrix );
	#include <begin_vertex>
	#include <project_vertex>
}`,equirect_frag:`uniform sampler2D tEquirect;
varying vec3 vWorldDirection;
#include <common>
void main() {
	vec3 direction = normalize( vWorldDirection );
	vec2 sampleUV = equirectUv( direction );
	gl_FragColor = texture2D( tEquirect, sampleUV );
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
}`,linedashed_vert:`uniform float scale;
attribute float lineDistance;
varying float vLineDistance;
#include <common>
#include <uv_pars_vertex>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <morphtarget_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	vLineDistance = scale * lineDistance;
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	#include <fog_vertex>
}`,linedashed_frag:`uniform vec3 diffuse;
uniform float opacity;
uniform float dashSize;
uniform float totalSize;
varying float vLineDistance;
#include <common>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <fog_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	if ( mod( vLineDistance, totalSize ) > dashSize ) {
		discard;
	}
	vec3 outgoingLight = vec3( 0.0 );
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	outgoingLight = diffuseColor.rgb;
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
}`,meshbasic_vert:`#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <envmap_pars_vertex>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <batching_vertex>
	#if defined ( USE_ENVMAP ) || defined ( USE_SKINNING )
		#include <beginnormal_vertex>
		#include <morphnormal_vertex>
		#include <skinbase_vertex>
		#include <skinnormal_vertex>
		#include <defaultnormal_vertex>
	#endif
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	#include <worldpos_vertex>
	#include <envmap_vertex>
	#include <fog_vertex>
}`,meshbasic_frag:`uniform vec3 diffuse;
uniform float opacity;
#ifndef FLAT_SHADED
	varying vec3 vNormal;
#endif
#include <common>
#include <dithering_pars_fragment>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <aomap_pars_fragment>
#include <lightmap_pars_fragment>
#include <envmap_common_pars_fragment>
#include <envmap_pars_fragment>
#include <fog_pars_fragment>
#include <specularmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <specularmap_fragment>
	ReflectedLight reflectedLight = ReflectedLight( vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ) );
	#ifdef USE_LIGHTMAP
		vec4 lightMapTexel = texture2D( lightMap, vLightMapUv );
		reflectedLight.indirectDiffuse += lightMapTexel.rgb * lightMapIntensity * RECIPROCAL_PI;
	#else
		reflectedLight.indirectDiffuse += vec3( 1.0 );
	#endif
	#include <aomap_fragment>
	reflectedLight.indirectDiffuse *= diffuseColor.rgb;
	vec3 outgoingLight = reflectedLight.indirectDiffuse;
	#include <envmap_fragment>
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
	#include <dithering_fragment>
}`,meshlambert_vert:`#define LAMBERT
varying vec3 vViewPosition;
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <envmap_pars_vertex>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <normal_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <shadowmap_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <normal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	vViewPosition = - mvPosition.xyz;
	#include <worldpos_vertex>
	#include <envmap_vertex>
	#include <shadowmap_vertex>
	#include <fog_vertex>
}`,meshlambert_frag:`#define LAMBERT
uniform vec3 diffuse;
uniform vec3 emissive;
uniform float opacity;
#include <common>
#include <dithering_pars_fragment>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <aomap_pars_fragment>
#include <lightmap_pars_fragment>
#include <emissivemap_pars_fragment>
#include <envmap_common_pars_fragment>
#include <envmap_pars_fragment>
#include <envmap_physical_pars_fragment>
#include <fog_pars_fragment>
#include <bsdfs>
#include <lights_pars_begin>
#include <normal_pars_fragment>
#include <lights_lambert_pars_fragment>
#include <shadowmap_pars_fragment>
#include <bumpmap_pars_fragment>
#include <normalmap_pars_fragment>
#include <specularmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	ReflectedLight reflectedLight = ReflectedLight( vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ) );
	vec3 totalEmissiveRadiance = emissive;
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <specularmap_fragment>
	#include <normal_fragment_begin>
	#include <normal_fragment_maps>
	#include <emissivemap_fragment>
	#include <lights_lambert_fragment>
	#include <lights_fragment_begin>
	#include <lights_fragment_maps>
	#include <lights_fragment_end>
	#include <aomap_fragment>
	vec3 outgoingLight = reflectedLight.directDiffuse + reflectedLight.indirectDiffuse + totalEmissiveRadiance;
	#include <envmap_fragment>
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
	#include <dithering_fragment>
}`,meshmatcap_vert:`#define MATCAP
varying vec3 vViewPosition;
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <color_pars_vertex>
#include <displacementmap_pars_vertex>
#include <fog_pars_vertex>
#include <normal_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <normal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	#include <fog_vertex>
	vViewPosition = - mvPosition.xyz;
}`,meshmatcap_frag:`#define MATCAP
uniform vec3 diffuse;
uniform float opacity;
uniform sampler2D matcap;
varying vec3 vViewPosition;
#include <common>
#include <dithering_pars_fragment>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <fog_pars_fragment>
#include <normal_pars_fragment>
#include <bumpmap_pars_fragment>
#include <normalmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <normal_fragment_begin>
	#include <normal_fragment_maps>
	vec3 viewDir = normalize( vViewPosition );
	vec3 x = normalize( vec3( viewDir.z, 0.0, - viewDir.x ) );
	vec3 y = cross( viewDir, x );
	vec2 uv = vec2( dot( x, normal ), dot( y, normal ) ) * 0.495 + 0.5;
	#ifdef USE_MATCAP
		vec4 matcapColor = texture2D( matcap, uv );
	#else
		vec4 matcapColor = vec4( vec3( mix( 0.2, 0.8, uv.y ) ), 1.0 );
	#endif
	vec3 outgoingLight = diffuseColor.rgb * matcapColor.rgb;
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
	#include <dithering_fragment>
}`,meshnormal_vert:`#define NORMAL
#if defined( FLAT_SHADED ) || defined( USE_BUMPMAP ) || defined( USE_NORMALMAP_TANGENTSPACE )
	varying vec3 vViewPosition;
#endif
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <normal_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphinstance_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <normal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
#if defined( FLAT_SHADED ) || defined( USE_BUMPMAP ) || defined( USE_NORMALMAP_TANGENTSPACE )
	vViewPosition = - mvPosition.xyz;
#endif
}`,meshnormal_frag:`#define NORMAL
uniform float opacity;
#if defined( FLAT_SHADED ) || defined( USE_BUMPMAP ) || defined( USE_NORMALMAP_TANGENTSPACE )
	varying vec3 vViewPosition;
#endif
#include <uv_pars_fragment>
#include <normal_pars_fragment>
#include <bumpmap_pars_fragment>
#include <normalmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( 0.0, 0.0, 0.0, opacity );
	#include <clipping_planes_fragment>
	#include <logdepthbuf_fragment>
	#include <normal_fragment_begin>
	#include <normal_fragment_maps>
	gl_FragColor = vec4( normalize( normal ) * 0.5 + 0.5, diffuseColor.a );
	#ifdef OPAQUE
		gl_FragColor.a = 1.0;
	#endif
}`,meshphong_vert:`#define PHONG
varying vec3 vViewPosition;
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <envmap_pars_vertex>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <normal_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <shadowmap_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphcolor_vertex>
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphinstance_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <normal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	vViewPosition = - mvPosition.xyz;
	#include <worldpos_vertex>
	#include <envmap_vertex>
	#include <shadowmap_vertex>
	#include <fog_vertex>
}`,meshphong_frag:`#define PHONG
uniform vec3 diffuse;
uniform vec3 emissive;
uniform vec3 specular;
uniform float shininess;
uniform float opacity;
#include <common>
#include <dithering_pars_fragment>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <aomap_pars_fragment>
#include <lightmap_pars_fragment>
#include <emissivemap_pars_fragment>
#include <envmap_common_pars_fragment>
#include <envmap_pars_fragment>
#include <envmap_physical_pars_fragment>
#include <fog_pars_fragment>
#include <bsdfs>
#include <lights_pars_begin>
#include <normal_pars_fragment>
#include <lights_phong_pars_fragment>
#include <shadowmap_pars_fragment>
#include <bumpmap_pars_fragment>
#include <normalmap_pars_fragment>
#include <specularmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	ReflectedLight reflectedLight = ReflectedLight( vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ) );
	vec3 totalEmissiveRadiance = emissive;
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <specularmap_fragment>
	#include <normal_fragment_begin>
	#include <normal_fragment_maps>
	#include <emissivemap_fragment>
	#include <lights_phong_fragment>
	#include <lights_fragment_begin>
	#include <lights_fragment_maps>
	#include <lights_fragment_end>
	#include <aomap_fragment>
	vec3 outgoingLight = reflectedLight.directDiffuse + reflectedLight.indirectDiffuse + reflectedLight.directSpecular + reflectedLight.indirectSpecular + totalEmissiveRadiance;
	#include <envmap_fragment>
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
	#include <dithering_fragment>
}`,meshphysical_vert:`#define STANDARD
varying vec3 vViewPosition;
#ifdef USE_TRANSMISSION
	varying vec3 vWorldPosition;
#endif
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <normal_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <shadowmap_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <normal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	vViewPosition = - mvPosition.xyz;
	#include <worldpos_vertex>
	#include <shadowmap_vertex>
	#include <fog_vertex>
#ifdef USE_TRANSMISSION
	vWorldPosition = worldPosition.xyz;
#endif
}`,meshphysical_frag:`#define STANDARD
#ifdef PHYSICAL
	#define IOR
	#define USE_SPECULAR
#endif
uniform vec3 diffuse;
uniform vec3 emissive;
uniform float roughness;
uniform float metalness;
uniform float opacity;
#ifdef IOR
	uniform float ior;
#endif
#ifdef USE_SPECULAR
	uniform float specularIntensity;
	uniform vec3 specularColor;
	#ifdef USE_SPECULAR_COLORMAP
		uniform sampler2D specularColorMap;
	#endif
	#ifdef USE_SPECULAR_INTENSITYMAP
		uniform sampler2D specularIntensityMap;
	#endif
#endif
#ifdef USE_CLEARCOAT
	uniform float clearcoat;
	uniform float clearcoatRoughness;
#endif
#ifdef USE_DIFFUSE_ROUGHNESS
	uniform float diffuseRoughness;
	#ifdef USE_DIFFUSE_ROUGHNESSMAP
		uniform sampler2D diffuseRoughnessMap;
	#endif
#endif
#ifdef USE_DISPERSION
	uniform float dispersion;
#endif
#ifdef USE_RETROREFLECTION
	uniform float retroreflectivity;
#endif
#ifdef USE_IRIDESCENCE
	uniform float iridescence;
	uniform float iridescenceIOR;
	uniform float iridescenceThicknessMinimum;
	uniform float iridescenceThicknessMaximum;
#endif
#ifdef USE_SHEEN
	uniform vec3 sheenColor;
	uniform float sheenRoughness;
	#ifdef USE_SHEEN_COLORMAP
		uniform sampler2D sheenColorMap;
	#endif
	#ifdef USE_SHEEN_ROUGHNESSMAP
		uniform sampler2D sheenRoughnessMap;
	#endif
#endif
#ifdef USE_ANISOTROPY
	uniform vec2 anisotropyVector;
	#ifdef USE_ANISOTROPYMAP
		uniform sampler2D anisotropyMap;
	#endif
#endif
varying vec3 vViewPosition;
#include <common>
#include <dithering_pars_fragment>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <aomap_pars_fragment>
#include <lightmap_pars_fragment>
#include <emissivemap_pars_fragment>
#include <iridescence_fragment>
#include <envmap_common_pars_fragment>
#include <envmap_physical_pars_fragment>
#include <fog_pars_fragment>
#include <lights_pars_begin>
#include <normal_pars_fragment>
#include <lights_physical_pars_fragment>
#include <transmission_pars_fragment>
#include <shadowmap_pars_fragment>
#include <bumpmap_pars_fragment>
#include <normalmap_pars_fragment>
#include <clearcoat_pars_fragment>
#include <iridescence_pars_fragment>
#include <roughnessmap_pars_fragment>
#include <metalnessmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	ReflectedLight reflectedLight = ReflectedLight( vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ) );
	vec3 totalEmissiveRadiance = emissive;
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <roughnessmap_fragment>
	#include <metalnessmap_fragment>
	#include <normal_fragment_begin>
	#include <normal_fragment_maps>
	#include <clearcoat_normal_fragment_begin>
	#include <clearcoat_normal_fragment_maps>
	#include <emissivemap_fragment>
	#include <lights_physical_fragment>
	#include <lights_fragment_begin>
	#include <lights_fragment_maps>
	#include <lights_fragment_end>
	#include <aomap_fragment>
	vec3 totalDiffuse = reflectedLight.directDiffuse + reflectedLight.indirectDiffuse;
	vec3 totalSpecular = reflectedLight.directSpecular + reflectedLight.indirectSpecular;
	#include <transmission_fragment>
	vec3 outgoingLight = totalDiffuse + totalSpecular + totalEmissiveRadiance;
	#ifdef USE_SHEEN
 
		outgoingLight = outgoingLight + sheenSpecularDirect + sheenSpecularIndirect;
 
 	#endif
	#ifdef USE_CLEARCOAT
		float dotNVcc = saturate( dot( geometryClearcoatNormal, geometryViewDir ) );
		vec3 Fcc = F_Schlick( material.clearcoatF0, material.clearcoatF90, dotNVcc );
		outgoingLight = outgoingLight * ( 1.0 - material.clearcoat * Fcc ) + ( clearcoatSpecularDirect + clearcoatSpecularIndirect ) * material.clearcoat;
	#endif
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
	#include <dithering_fragment>
}`,meshtoon_vert:`#define TOON
varying vec3 vViewPosition;
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <normal_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <shadowmap_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <normal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	vViewPosition = - mvPosition.xyz;
	#include <worldpos_vertex>
	#include <shadowmap_vertex>
	#include <fog_vertex>
}`,meshtoon_frag:`#define TOON
uniform vec3 diffuse;
uniform vec3 emissive;
uniform float opacity;
#include <common>
#include <dithering_pars_fragment>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <aomap_pars_fragment>
#include <lightmap_pars_fragment>
#include <emissivemap_pars_fragment>
#include <gradientmap_pars_fragment>
#include <fog_pars_fragment>
#include <bsdfs>
#include <lights_pars_begin>
#include <normal_pars_fragment>
#include <lights_toon_pars_fragment>
#include <shadowmap_pars_fragment>
#include <bumpmap_pars_fragment>
#include <normalmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	ReflectedLight reflectedLight = ReflectedLight( vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ) );
	vec3 totalEmissiveRadiance = emissive;
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <normal_fragment_begin>
	#include <normal_fragment_maps>
	#include <emissivemap_fragment>
	#include <lights_toon_fragment>
	#include <lights_fragment_begin>
	#include <lights_fragment_maps>
	#include <lights_fragment_end>
	#include <aomap_fragment>
	vec3 outgoingLight = reflectedLight.directDiffuse + reflectedLight.indirectDiffuse + totalEmissiveRadiance;
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
	#include <dithering_fragment>
}`,points_vert:`uniform float size;
uniform float scale;
#include <common>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <morphtarget_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
#ifdef USE_POINTS_UV
	varying vec2 vUv;
	uniform mat3 uvTransform;
#endif
void main() {
	#ifdef USE_POINTS_UV
		vUv = ( uvTransform * vec3( uv, 1 ) ).xy;
	#endif
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <project_vertex>
	gl_PointSize = size;
	#ifdef USE_SIZEATTENUATION
		bool isPerspective = isPerspectiveMatrix( projectionMatrix );
		if ( isPerspective ) gl_PointSize *= ( scale / - mvPosition.z );
	#endif
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	#include <worldpos_vertex>
	#include <fog_vertex>
}`,points_frag:`uniform vec3 diffuse;
uniform float opacity;
#include <common>
#include <color_pars_fragment>
#include <map_particle_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <fog_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	vec3 outgoingLight = vec3( 0.0 );
	#include <logdepthbuf_fragment>
	#include <map_particle_fragment>
	#include <color_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	outgoingLight = diffuseColor.rgb;
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
}`,shadow_vert:`#include <common>
#include <batching_pars_vertex>
#include <fog_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <shadowmap_pars_vertex>
void main() {
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphinstance_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <worldpos_vertex>
	#include <shadowmap_vertex>
	#include <fog_vertex>
}`,shadow_frag:`uniform vec3 color;
uniform float opacity;
#include <common>
#include <fog_pars_fragment>
#include <bsdfs>
#include <lights_pars_begin>
#include <logdepthbuf_pars_fragment>
#include <shadowmap_pars_fragment>
#include <shadowmask_pars_fragment>
void main() {
	#include <logdepthbuf_fragment>
	gl_FragColor = vec4( color, opacity * ( 1.0 - getShadowMask() ) );
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
}`,sprite_vert:`uniform float rotation;
uniform vec2 center;
#include <common>
#include <uv_pars_vertex>
#include <fog_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	vec4 mvPosition = modelViewMatrix[ 3 ];
	vec2 scale = vec2( length( modelMatrix[ 0 ].xyz ), length( modelMatrix[ 1 ].xyz ) );
	#ifndef USE_SIZEATTENUATION
		bool isPerspective = isPerspectiveMatrix( projectionMatrix );
		if ( isPerspective ) scale *= - mvPosition.z;
	#endif
	vec2 alignedPosition = ( position.xy - ( center - vec2( 0.5 ) ) ) * scale;
	vec2 rotatedPosition;
	rotatedPosition.x = cos( rotation ) * alignedPosition.x - sin( rotation ) * alignedPosition.y;
	rotatedPosition.y = sin( rotation ) * alignedPosition.x + cos( rotation ) * alignedPosition.y;
	mvPosition.xy += rotatedPosition;
	gl_Position = projectionMatrix * mvPosition;
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	#include <fog_vertex>
}`,sprite_frag:`uniform vec3 diffuse;
uniform float opacity;
#include <common>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <fog_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	vec3 outgoingLight = vec3( 0.0 );
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	outgoingLight = diffuseColor.rgb;
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
}`},$={common:{diffuse:{value:new Z(16777215)},opacity:{value:1},map:{value:null},mapTransform:{value:new X},alphaMap:{value:null},alphaMapTransform:{value:new X},alphaTest:{value:0}},specularmap:{specularMap:{value:null},specularMapTransform:{value:new X}},envmap:{envMap:{value:null},envMapRotation:{value:new X},reflectivity:{value:1},ior:{value:1.5},refractionRatio:{value:.98},dfgLUT:{value:null}},aomap:{aoMap:{value:null},aoMapIntensity:{value:1},aoMapTransform:{value:new X}},lightmap:{lightMap:{value:null},lightMapIntensity:{value:1},lightMapTransform:{value:new X}},bumpmap:{bumpMap:{value:null},bumpMapTransform:{value:new X},bumpScale:{value:1}},normalmap:{normalMap:{value:null},normalMapTransform:{value:new X},normalScale:{value:new J(1,1)}},displacementmap:{displacementMap:{value:null},displacementMapTransform:{value:new X},displacementScale:{value:1},displacementBias:{value:0}},emissivemap:{emissiveMap:{value:null},emissiveMapTransform:{value:new X}},metalnessmap:{metalnessMap:{value:null},metalnessMapTransform:{value:new X}},roughnessmap:{roughnessMap:{value:null},roughnessMapTransform:{value:new X}},gradientmap:{gradientMap:{value:null}},fog:{fogDensity:{value:25e-5},fogNear:{value:1},fogFar:{value:2e3},fogColor:{value:new Z(16777215)}},lights:{ambientLightColor:{value:[]},lightProbe:{value:[]},sunLights:{value:[],properties:{direction:{},color:{}}},sunLightShadows:{value:[],properties:{shadowIntensity:1,shadowBias:{},shadowNormalBias:{},shadowRadius:{},shadowMapSize:{}}},sunShadowMatrix:{value:[]},sunShadowCascade:{value:[]},directionalLights:{value:[],properties:{direction:{},color:{}}},directionalLightShadows:{value:[],properties:{shadowIntensity:1,shadowBias:{},shadowNormalBias:{},shadowRadius:{},shadowMapSize:{}}},directionalShadowMatrix:{value:[]},spotLights:{value:[],properties:{color:{},position:{},direction:{},distance:{},coneCos:{},penumbraCos:{},decay:{}}},spotLightShadows:{value:[],properties:{shadowIntensity:1,shadowBias:{},shadowNormalBias:{},shadowRadius:{},shadowMapSize:{}}},spotLightMap:{value:[]},spotLightMatrix:{value:[]},pointLights:{value:[],properties:{color:{},position:{},decay:{},distance:{}}},pointLightShadows:{value:[],properties:{shadowIntensity:1,shadowBias:{},shadowNormalBias:{},shadowRadius:{},shadowMapSize:{},shadowCameraNear:{},shadowCameraFar:{}}},pointShadowMatrix:{value:[]},hemisphereLights:{value:[],properties:{direction:{},skyColor:{},groundColor:{}}},rectAreaLights:{value:[],properties:{color:{},position:{},width:{},height:{}}},ltc_1:{value:null},ltc_2:{value:null},probesSH:{value:[]},probesMin:{value:[]},probesMax:{value:[]},probesResolution:{value:[]}},points:{diffuse:{value:new Z(16777215)},opacity:{value:1},size:{value:1},scale:{value:1},map:{value:null},alphaMap:{value:null},alphaMapTransform:{value:new X},alphaTest:{value:0},uvTransform:{value:new X}},sprite:{diffuse:{value:new Z(16777215)},opacity:{value:1},center:{value:new J(.5,.5)},rotation:{value:0},map:{value:null},mapTransform:{value:new X},alphaMap:{value:null},alphaMapTransform:{value:new X},alphaTest:{value:0}}},qh={basic:{uniforms:hm([$.common,$.specularmap,$.envmap,$.aomap,$.lightmap,$.fog]),vertexShader:Q.meshbasic_vert,fragmentShader:Q.meshbasic_frag},lambert:{uniforms:hm([$.common,$.specularmap,$.envmap,$.aomap,$.lightmap,$.emissivemap,$.bumpmap,$.normalmap,$.displacementmap,$.fog,$.lights,{emissive:{value:new Z(0)},envMapIntensity:{value:1}}]),vertexShader:Q.meshlambert_vert,fragmentShader:Q.meshlambert_frag},phong:{uniforms:hm([$.common,$.specularmap,$.envmap,$.aomap,$.lightmap,$.emissivemap,$.bumpmap,$.normalmap,$.displacementmap,$.fog,$.lights,{emissive:{value:new Z(0)},specular:{value:new Z(1118481)},shininess:{value:30},envMapIntensity:{value:1}}]),vertexShader:Q.meshphong_vert,fragmentShader:Q.meshphong_frag},standard:{uniforms:hm([$.common,$.envmap,$.aomap,$.lightmap,$.emissivemap,$.bumpmap,$.normalmap,$.displacementmap,$.roughnessmap,$.metalnessmap,$.fog,$.lights,{emissive:{value:new Z(0)},roughness:{value:1},metalness:{value:0},envMapIntensity:{value:1}}]),vertexShader:Q.meshphysical_vert,fragmentShader:Q.meshphysical_frag},toon:{uniforms:hm([$.common,$.aomap,$.lightmap,$.emissivemap,$.bumpmap,$.normalmap,$.displacementmap,$.gradientmap,$.fog,$.lights,{emissive:{value:new Z(0)}}]),vertexShader:Q.meshtoon_vert,fragmentShader:Q.meshtoon_frag},matcap:{uniforms:hm([$.common,$.bumpmap,$.normalmap,$.displacementmap,$.fog,{matcap:{value:null}}]),vertexShader:Q.meshmatcap_vert,fragmentShader:Q.meshmatcap_frag},points:{uniforms:hm([$.points,$.fog]),vertexShader:Q.points_vert,fragmentShader:Q.points_frag},dashed:{uniforms:hm([$.common,$.fog,{scale:{value:1},dashSize:{value:1},totalSize:{value:2}}]),vertexShader:Q.linedashed_vert,fragmentShader:Q.linedashed_frag},depth:{uniforms:hm([$.common,$.displacementmap]),vertexShader:Q.depth_vert,fragmentShader:Q.depth_frag},normal:{uniforms:hm([$.common,$.bumpmap,$.normalmap,$.displacementmap,{opacity:{value:1}}]),vertexShader:Q.meshnormal_vert,fragmentShader:Q.meshnormal_frag},sprite:{uniforms:hm([$.sprite,$.fog]),vertexShader:Q.sprite_vert,fragmentShader:Q.sprite_frag},background:{uniforms:{uvTransform:{value:new X},t2D:{value:null},backgroundIntensity:{value:1}},vertexShader:Q.background_vert,fragmentShader:Q.background_frag},backgroundCube:{uniforms:{envMap:{value:null},backgroundBlurriness:{value:0},backgroundIntensity:{value:1},backgroundRotation:{value:new X}},vertexShader:Q.backgroundCube_vert,fragmentShader:Q.backgroundCube_frag},cube:{uniforms:{tCube:{value:null},tFlip:{value:-1},opacity:{value:1}},vertexShader:Q.cube_vert,fragmentShader:Q.cube_frag},equirect:{uniforms:{tEquirect:{value:null}},vertexShader:Q.equirect_vert,fragmentShader:Q.equirect_frag},distance:{uniforms:hm([$.common,$.displacementmap,{referencePosition:{value:new Y},nearDistance:{value:1},farDistance:{value:1e3}}]),vertexShader:Q.distance_vert,fragmentShader:Q.distance_frag},shadow:{uniforms:hm([$.lights,$.fog,{color:{value:new Z(0)},opacity:{value:1}}]),vertexShader:Q.shadow_vert,fragmentShader:Q.shadow_frag}};qh.physical={uniforms:hm([qh.standard.uniforms,{clearcoat:{value:0},clearcoatMap:{value:null},clearcoatMapTransform:{value:new X},clearcoatNormalMap:{value:null},clearcoatNormalMapTransform:{value:new X},clearcoatNormalScale:{value:new J(1,1)},clearcoatRoughness:{value:0},clearcoatRoughnessMap:{value:null},clearcoatRoughnessMapTransform:{value:new X},diffuseRoughness:{value:0},diffuseRoughnessMap:{value:null},diffuseRoughnessMapTransform:{value:new X},dispersion:{value:0},retroreflectivity:{value:0},iridescence:{value:0},iridescenceMap:{value:null},iridescenceMapTransform:{value:new X},iridescenceIOR:{value:1.3},iridescenceThicknessMinimum:{value:100},iridescenceThicknessMaximum:{value:400},iridescenceThicknessMap:{value:null},iridescenceThicknessMapTransform:{value:new X},sheen:{value:0},sheenColor:{value:new Z(0)},sheenColorMap:{value:null},sheenColorMapTransform:{value:new X},sheenRoughness:{value:1},sheenRoughnessMap:{value:null},sheenRoughnessMapTransform:{value:new X},transmission:{value:0},transmissionMap:{value:null},transmissionMapTransform:{value:new X},transmissionSamplerSize:{value:new J},transmissionSamplerMap:{value:null},thickness:{value:0},thicknessMap:{value:null},thicknessMapTransform:{value:new X},attenuationDistance:{value:0},attenuationColor:{value:new Z(0)},specularColor:{value:new Z(1,1,1)},specularColorMap:{value:null},specularColorMapTransform:{value:new X},specularIntensity:{value:1},specularIntensityMap:{value:null},specularIntensityMapTransform:{value:new X},anisotropyVector:{value:new J},anisotropyMap:{value:null},anisotropyMapTransform:{value:new X}}]),vertexShader:Q.meshphysical_vert,fragmentShader:Q.meshphysical_frag};var Jh={r:0,b:0,g:0},Yh=new fd,Xh=new X;Xh.set(-1,0,0,0,1,0,0,0,1);function Zh(e,t,n,r,i,a){let o=new Z(0),s=i===!0?0:1,c,l,u=null,d=0,f=null;function p(e){let n=e.isScene===!0?e.background:null;if(n&&n.isTexture){let r=e.backgroundBlurriness>0;n=t.get(n,r)}return n}function m(t){let r=!1,i=p(t);i===null?g(o,s):i&&i.isColor&&(g(i,1),r=!0);let c=e.xr.getEnvironmentBlendMode();c===`additive`?n.buffers.color.setClear(0,0,0,1,a):c===`alpha-blend`&&n.buffers.color.setClear(0,0,0,0,a),(e.autoClear||r)&&(n.buffers.depth.setTest(!0),n.buffers.depth.setMask(!0),n.buffers.color.setMask(!0),e.clear(e.autoClearColor,e.autoClearDepth,e.autoClearStencil))}function h(t,n){let i=p(n);i&&i.isCubeTexture?(l===void 0&&(l=new _p(new $p(1,1,1),new Sm({name:`BackgroundCubeMaterial`,uniforms:mm(qh.backgroundCube.uniforms),vertexShader:qh.backgroundCube.vertexShader,fragmentShader:qh.backgroundCube.fragmentShader,side:1,depthTest:!1,depthWrite:!1,fog:!1,allowOverride:!1})),l.geometry.deleteAttribute(`normal`),l.geometry.deleteAttribute(`uv`),l.onBeforeRender=function(e,t,n){this.matrixWorld.copyPosition(n.matrixWorld)},Object.defineProperty(l.material,"envMap",{get:function(){return this.uniforms.envMap.value}}),r.update(l)),l.material.uniforms.envMap.value=i,l.material.uniforms.backgroundBlurriness.value=n.backgroundBlurriness,l.material.uniforms.backgroundIntensity.value=n.backgroundIntensity,l.material.uniforms.backgroundRotation.value.setFromMatrix4(Yh.makeRotationFromEuler(n.backgroundRotation)).transpose(),i.isRenderTargetTexture===!1&&l.material.uniforms.backgroundRotation.value.premultiply(Xh),l.material.toneMapped=Xu.getTransfer(i.colorSpace)!==tu,(u!==i||d!==i.version||f!==e.toneMapping)&&(l.material.needsUpdate=!0,u=i,d=i.version,f=e.toneMapping),l.layers.enableAll(),t.unshift(l,l.geometry,l.material,0,0,null)):i&&i.isTexture&&(c===void 0&&(c=new _p(new lm(2,2),new Sm({name:`BackgroundMaterial`,uniforms:mm(qh.background.uniforms),vertexShader:qh.background.vertexShader,fragmentShader:qh.background.fragmentShader,side:0,depthTest:!1,depthWrite:!1,fog:!1,allowOverride:!1})),c.geometry.deleteAttribute(`normal`),Object.defineProperty(c.material,"map",{get:function(){return this.uniforms.t2D.value}}),r.update(c)),c.material.uniforms.t2D.value=i,c.material.uniforms.backgroundIntensity.value=n.backgroundIntensity,c.material.toneMapped=Xu.getTransfer(i.colorSpace)!==tu,i.matrixAutoUpdate===!0&&i.updateMatrix(),c.material.uniforms.uvTransform.value.copy(i.matrix),(u!==i||d!==i.version||f!==e.toneMapping)&&(c.material.needsUpdate=!0,u=i,d=i.version,f=e.toneMapping),c.layers.enableAll(),t.unshift(c,c.geometry,c.material,0,0,null))}function g(t,r){t.getRGB(Jh,vm(e)),n.buffers.color.setClear(Jh.r,Jh.g,Jh.b,r,a)}function _(){l!==void 0&&(l.geometry.dispose(),l.material.dispose(),l=void 0),c!==void 0&&(c.geometry.dispose(),c.material.dispose(),c=void 0)}return{getClearColor:function(){return o},setClearColor:function(e,t=1){o.set(e),s=t,g(o,s)},getClearAlpha:function(){return s},setClearAlpha:function(e){s=e,g(o,s)},render:m,addToRenderList:h,dispose:_}}function Qh(e,t){let n=e.getParameter(e.MAX_VERTEX_ATTRIBS),r={},i=f(null),a=i,o=!1;function s(n,r,i,s,c){let u=!1,f=d(n,s,i,r);a!==f&&(a=f,l(a.object)),u=p(n,s,i,c),u&&m(n,s,i,c),c!==null&&t.update(c,e.ELEMENT_ARRAY_BUFFER),(u||o)&&(o=!1,b(n,r,i,s),c!==null&&e.bindBuffer(e.ELEMENT_ARRAY_BUFFER,t.get(c).buffer))}function c(){return e.createVertexArray()}function l(t){return e.bindVertexArray(t)}function u(t){return e.deleteVertexArray(t)}function d(e,t,n,i){let a=i.wireframe===!0,o=r[t.id];o===void 0&&(o={},r[t.id]=o);let s=e.isInstancedMesh===!0?e.id:0,l=o[s];l===void 0&&(l={},o[s]=l);let u=l[n.id];u===void 0&&(u={},l[n.id]=u);let d=u[a];return d===void 0&&(d=f(c()),u[a]=d),d}function f(e){let t=[],r=[],i=[];for(let e=0;e<n;e++)t[e]=0,r[e]=0,i[e]=0;return{geometry:null,program:null,wireframe:!1,newAttributes:t,enabledAttributes:r,attributeDivisors:i,object:e,attributes:{},index:null}}function p(e,t,n,r){let i=a.attributes,o=t.attributes,s=0,c=n.getAttributes();for(let t in c)if(c[t].location>=0){let n=i[t],r=o[t];if(r===void 0&&(t===`instanceMatrix`&&e.instanceMatrix&&(r=e.instanceMatrix),t===`instanceColor`&&e.instanceColor&&(r=e.instanceColor)),n===void 0||n.attribute!==r||r&&n.data!==r.data)return!0;s++}return a.attributesNum!==s||a.index!==r}function m(e,t,n,r){let i={},o=t.attributes,s=0,c=n.getAttributes();for(let t in c)if(c[t].location>=0){let n=o[t];n===void 0&&(t===`instanceMatrix`&&e.instanceMatrix&&(n=e.instanceMatrix),t===`instanceColor`&&e.instanceColor&&(n=e.instanceColor));let r={};r.attribute=n,n&&n.data&&(r.data=n.data),i[t]=r,s++}a.attributes=i,a.attributesNum=s,a.index=r}function h(){let e=a.newAttributes;for(let t=0,n=e.length;t<n;t++)e[t]=0}function g(e){_(e,0)}function _(t,n){let r=a.newAttributes,i=a.enabledAttributes,o=a.attributeDivisors;r[t]=1,i[t]===0&&(e.enableVertexAttribArray(t),i[t]=1),o[t]!==n&&(e.vertexAttribDivisor(t,n),o[t]=n)}function v(){let t=a.newAttributes,n=a.enabledAttributes;for(let r=0,i=n.length;r<i;r++)n[r]!==t[r]&&(e.disableVertexAttribArray(r),n[r]=0)}function y(t,n,r,i,a,o,s){s===!0?e.vertexAttribIPointer(t,n,r,a,o):e.vertexAttribPointer(t,n,r,i,a,o)}function b(n,r,i,a){h();let o=a.attributes,s=i.getAttributes(),c=r.defaultAttributeValues;for(let r in s){let i=s[r];if(i.location>=0){let s=o[r];if(s===void 0&&(r===`instanceMatrix`&&n.instanceMatrix&&(s=n.instanceMatrix),r===`instanceColor`&&n.instanceColor&&(s=n.instanceColor)),s!==void 0){let r=s.normalized,o=s.itemSize,c=t.get(s);if(c===void 0)continue;let l=c.buffer,u=c.type,d=c.bytesPerElement,f=u===e.INT||u===e.UNSIGNED_INT||s.gpuType===1013;if(s.isInterleavedBufferAttribute){let t=s.data,c=t.isInterleavedBuffer===!0?t.stride:t.itemSize,p=s.offset;if(t.isInstancedInterleavedBuffer||t.isInstancedBufferAttribute){for(let e=0;e<i.locationSize;e++)_(i.location+e,t.meshPerAttribute);n.isInstancedMesh!==!0&&a._maxInstanceCount===void 0&&(a._maxInstanceCount=t.meshPerAttribute*t.count)}else for(let e=0;e<i.locationSize;e++)g(i.location+e);e.bindBuffer(e.ARRAY_BUFFER,l);for(let e=0;e<i.locationSize;e++)y(i.location+e,o/i.locationSize,u,r,c*d,(p+o/i.locationSize*e)*d,f)}else{if(s.isInstancedBufferAttribute){for(let e=0;e<i.locationSize;e++)_(i.location+e,s.meshPerAttribute);n.isInstancedMesh!==!0&&a._maxInstanceCount===void 0&&(a._maxInstanceCount=s.meshPerAttribute*s.count)}else for(let e=0;e<i.locationSize;e++)g(i.location+e);e.bindBuffer(e.ARRAY_BUFFER,l);for(let e=0;e<i.locationSize;e++)y(i.location+e,o/i.locationSize,u,r,o*d,o/i.locationSize*e*d,f)}}else if(c!==void 0){let t=c[r];if(t!==void 0)switch(t.length){case 2:e.vertexAttrib2fv(i.location,t);break;case 3:e.vertexAttrib3fv(i.location,t);break;case 4:e.vertexAttrib4fv(i.location,t);break;default:e.vertexAttrib1fv(i.location,t)}}}}v()}function x(){T();for(let e in r){let t=r[e];for(let e in t){let n=t[e];for(let e in n){let t=n[e];for(let e in t)u(t[e].object),delete t[e];delete n[e]}}delete r[e]}}function S(e){if(r[e.id]===void 0)return;let t=r[e.id];for(let e in t){let n=t[e];for(let e in n){let t=n[e];for(let e in t)u(t[e].object),delete t[e];delete n[e]}}delete r[e.id]}function C(e){for(let t in r){let n=r[t];for(let t in n){let r=n[t];if(r[e.id]===void 0)continue;let i=r[e.id];for(let e in i)u(i[e].object),delete i[e];delete r[e.id]}}}function w(e){for(let t in r){let n=r[t],i=e.isInstancedMesh===!0?e.id:0,a=n[i];if(a!==void 0){for(let e in a){let t=a[e];for(let e in t)u(t[e].object),delete t[e];delete a[e]}delete n[i],Object.keys(n).length===0&&delete r[t]}}}function T(){E(),o=!0,a!==i&&(a=i,l(a.object))}function E(){i.geometry=null,i.program=null,i.wireframe=!1}return{setup:s,reset:T,resetDefaultState:E,dispose:x,releaseStatesOfGeometry:S,releaseStatesOfObject:w,releaseStatesOfProgram:C,initAttributes:h,enableAttribute:g,disableUnusedAttributes:v}}function $h(e,t,n){let r;function i(e){r=e}function a(t,i){e.drawArrays(r,t,i),n.update(i,r,1)}function o(t,i,a){a!==0&&(e.drawArraysInstanced(r,t,i,a),n.update(i,r,a))}function s(e,i,a){if(a===0)return;t.get(`WEBGL_multi_draw`).multiDrawArraysWEBGL(r,e,0,i,0,a);let o=0;for(let e=0;e<a;e++)o+=i[e];n.update(o,r,1)}this.setMode=i,this.render=a,this.renderInstances=o,this.renderMultiDraw=s}function eg(e,t,n,r){let i;function a(){if(i!==void 0)return i;if(t.has(`EXT_texture_filter_anisotropic`)===!0){let n=t.get(`EXT_texture_filter_anisotropic`);i=e.getParameter(n.MAX_TEXTURE_MAX_ANISOTROPY_EXT)}else i=0;return i}function o(t){return t===1023||r.convert(t)===e.getParameter(e.IMPLEMENTATION_COLOR_READ_FORMAT)}function s(n){let i=n===1016&&(t.has(`EXT_color_buffer_half_float`)||t.has(`EXT_color_buffer_float`));return!(n!==1009&&n!==1015&&!i&&r.convert(n)!==e.getParameter(e.IMPLEMENTATION_COLOR_READ_TYPE))}function c(t){if(t===`highp`){if(e.getShaderPrecisionFormat(e.VERTEX_SHADER,e.HIGH_FLOAT).precision>0&&e.getShaderPrecisionFormat(e.FRAGMENT_SHADER,e.HIGH_FLOAT).precision>0)return`highp`;t=`mediump`}return t===`mediump`&&e.getShaderPrecisionFormat(e.VERTEX_SHADER,e.MEDIUM_FLOAT).precision>0&&e.getShaderPrecisionFormat(e.FRAGMENT_SHADER,e.MEDIUM_FLOAT).precision>0?`mediump`:`lowp`}let l=n.precision===void 0?`highp`:n.precision,u=c(l);u!==l&&(G(`WebGLRenderer:`,l,`not supported, using`,u,`instead.`),l=u);let d=n.reversedDepthBuffer===!0&&t.has(`EXT_clip_control`),f=n.logarithmicDepthBuffer===!0&&d===!1;n.reversedDepthBuffer===!0&&d===!1&&G(`WebGLRenderer: Unable to use reversed depth buffer due to missing EXT_clip_control extension. Fallback to default depth buffer.`),n.logarithmicDepthBuffer===!0&&d===!0&&G(`WebGLRenderer: Logarithmic depth buffer is ignored when reversed depth buffer is enabled.`);let p=e.getParameter(e.MAX_TEXTURE_IMAGE_UNITS),m=e.getParameter(e.MAX_VERTEX_TEXTURE_IMAGE_UNITS),h=e.getParameter(e.MAX_TEXTURE_SIZE),g=e.getParameter(e.MAX_CUBE_MAP_TEXTURE_SIZE),_=e.getParameter(e.MAX_VERTEX_ATTRIBS),v=e.getParameter(e.MAX_VERTEX_UNIFORM_VECTORS),y=e.getParameter(e.MAX_VARYING_VECTORS),b=e.getParameter(e.MAX_FRAGMENT_UNIFORM_VECTORS),x=e.getParameter(e.MAX_SAMPLES),S=e.getParameter(e.SAMPLES);return{isWebGL2:!0,getMaxAnisotropy:a,getMaxPrecision:c,textureFormatReadable:o,textureTypeReadable:s,precision:l,logarithmicDepthBuffer:f,reversedDepthBuffer:d,maxTextures:p,maxVertexTextures:m,maxTextureSize:h,maxCubemapSize:g,maxAttributes:_,maxVertexUniforms:v,maxVaryings:y,maxFragmentUniforms:b,maxSamples:x,samples:S}}function tg(e){let t=this,n=null,r=0,i=!1,a=!1,o=new Zf,s=new X,c={value:null,needsUpdate:!1};this.uniform=c,this.numPlanes=0,this.numIntersection=0,this.init=function(e,t){let n=e.length!==0||t||r!==0||i;return i=t,r=e.length,n},this.beginShadows=function(){a=!0,u(null)},this.endShadows=function(){a=!1},this.setGlobalState=function(e,t){n=u(e,t,0)},this.setState=function(t,o,s){let d=t.clippingPlanes,f=t.clipIntersection,p=t.clipShadows,m=e.get(t);if(!i||d===null||d.length===0||a&&!p)a?u(null):l();else{let e=a?0:r,t=e*4,i=m.clippingState||null;c.value=i,i=u(d,o,t,s);for(let e=0;e!==t;++e)i[e]=n[e];m.clippingState=i,this.numIntersection=f?this.numPlanes:0,this.numPlanes+=e}};function l(){c.value!==n&&(c.value=n,c.needsUpdate=r>0),t.numPlanes=r,t.numIntersection=0}function u(e,n,r,i){let a=e===null?0:e.length,l=null;if(a!==0){if(l=c.value,i!==!0||l===null){let t=r+a*4,i=n.matrixWorldInverse;s.getNormalMatrix(i),(l===null||l.length<t)&&(l=new Float32Array(t));for(let t=0,n=r;t!==a;++t,n+=4)o.copy(e[t]).applyMatrix4(i,s),o.normal.toArray(l,n),l[n+3]=o.constant}c.value=l,c.needsUpdate=!0}return t.numPlanes=a,t.numIntersection=0,l}}var ng=class extends ld{constructor(e=1,t={}){super(e,e,t),this.isWebGLCubeRenderTarget=!0;let n={width:e,height:e,depth:1},r=[n,n,n,n,n,n];this.texture=new Yp(r),this._setTextureOptions(t),this.texture.isRenderTargetTexture=!0}fromEquirectangularTexture(e,t){this.texture.type=t.type,this.texture.colorSpace=t.colorSpace,this.texture.generateMipmaps=t.generateMipmaps,this.texture.minFilter=t.minFilter,this.texture.magFilter=t.magFilter;let n={uniforms:{tEquirect:{value:null}},vertexShader:`

				varying vec3 vWorldDirection;

				vec3 transformDirection( in vec3 dir, in mat4 matrix ) {

					return normalize( ( matrix * vec4( dir, 0.0 ) ).xyz );

				}

				void main() {

					vWorldDirection = transformDirection( position, modelMatrix );

					#include <begin_vertex>
					#include <project_vertex>

				}
			`,fragmentShader:`

				uniform sampler2D tEquirect;

				varying vec3 vWorldDirection;

				#include <common>

				void main() {

					vec3 direction = normalize( vWorldDirection );

					vec2 sampleUV = equirectUv( direction );

					gl_FragColor = texture2D( tEquirect, sampleUV );

				}
			`},r=new $p(5,5,5),i=new Sm({name:`CubemapFromEquirect`,uniforms:mm(n.uniforms),vertexShader:n.vertexShader,fragmentShader:n.fragmentShader,side:1,blending:0});i.uniforms.tEquirect.value=t;let a=new _p(r,i),o=t.minFilter;return t.minFilter===1008&&(t.minFilter=Ic),new mh(1,10,this).update(e,a),t.minFilter=o,a.geometry.dispose(),a.material.dispose(),this}clear(e,t=!0,n=!0,r=!0){let i=e.getRenderTarget();for(let i=0;i<6;i++)e.setRenderTarget(this,i),e.clear(t,n,r);e.setRenderTarget(i)}},rg=256,ig=3,ag=20,og=256,sg=16,cg=3,lg=new Y,ug=new Z,dg=class e{constructor(e){this._renderer=e,this._cubeSize=0,this._sourceTarget=null,this._cubeCamera=new mh(1,10,null),this._boxMesh=new _p(new $p(5,5,5),null),this._cubemapMaterial=null,this._equirectMaterial=null,this._blurMaterial=null,this._ggxMaterial=null,this._integrationMaterial=null}fromScene(e,t=0,n=.1,r=100,i={}){let{size:a=256,position:o=lg}=i,s=this._renderer;this._setSize(a);let c=this._allocateTarget(),l=this._getSourceTarget(!0);t>0&&(l.texture.mipmapsAutoUpdate=!1);let u=s.autoClear,d=s.autoClearColor,f=s.autoClearDepth,p=s.autoClearStencil,m=e.background;s.autoClear=!0,s.autoClearColor=!0,s.autoClearDepth=!0,s.autoClearStencil=!0,m===null&&(e.background=s.getClearColor(ug));let h=new mh(n,r,l);return h.position.copy(o),h.update(s,e),s.autoClear=u,s.autoClearColor=d,s.autoClearDepth=f,s.autoClearStencil=p,e.background=m,t>0&&(l.texture.mipmapsAutoUpdate=!0,this._blur(c,t)),this._applyPMREM(c),c}fromEquirectangular(e,t=null){return this._fromTexture(e,t)}fromCubemap(e,t=null){return this._fromTexture(e,t)}compileCubemapShader(){this._cubemapMaterial===null&&(this._cubemapMaterial=vg(),this._compileMaterial(this._cubemapMaterial))}compileEquirectangularShader(){this._equirectMaterial===null&&(this._equirectMaterial=_g(),this._compileMaterial(this._equirectMaterial))}dispose(){this._sourceTarget!==null&&this._sourceTarget.dispose(),this._cubemapMaterial!==null&&this._cubemapMaterial.dispose(),this._equirectMaterial!==null&&this._equirectMaterial.dispose(),this._blurMaterial!==null&&this._blurMaterial.dispose(),this._ggxMaterial!==null&&this._ggxMaterial.dispose(),this._integrationMaterial!==null&&this._integrationMaterial.dispose(),this._boxMesh.geometry.dispose()}static lodToRoughness(e,t){return t>0?1-Math.sqrt(1-e/t):0}_setSize(e){this._cubeSize=Math.max(rg,Lu(e))}_fromTexture(e,t){e.mapping===301||e.mapping===302?this._setSize(e.image.length===0?rg:e.image[0].width||e.image[0].image.width):this._setSize(e.image.width/4);let n=t||this._allocateTarget();return this._textureToCubemap(e),this._applyPMREM(n),n}_allocateTarget(){let e=this._cubeSize,t=fg(e,!1,!1),n=Math.log2(e)-ig;for(let r=0;r<=n;r++)t.texture.mipmaps.push({width:e>>r,height:e>>r});return t.texture.name=`PMREM`,t.texture.isPMREMTexture=!0,t}_getSourceTarget(e=!1){let t=this._cubeSize,n=this._sourceTarget;return(n===null||n.width!==t||e&&n.depthBuffer===!1)&&(n!==null&&n.dispose(),this._sourceTarget=fg(t,!0,e)),this._sourceTarget}_compileMaterial(e){this._boxMesh.material=e,this._renderer.compile(this._boxMesh,this._cubeCamera.children[0])}_renderCube(e,t,n){let r=this._boxMesh,i=this._cubeCamera;r.material=n,i.renderTarget=e,i.activeMipmapLevel=t;let a=e.width>>t;e.viewport.set(0,0,a,a),i.update(this._renderer,r),e.viewport.set(0,0,e.width,e.height)}_textureToCubemap(e){let t;e.mapping===301||e.mapping===302?(this._cubemapMaterial===null&&(this._cubemapMaterial=vg()),t=this._cubemapMaterial,t.uniforms.flipEnvMap.value=e.isRenderTargetTexture===!1?-1:1):(this._equirectMaterial===null&&(this._equirectMaterial=_g()),t=this._equirectMaterial),t.uniforms.envMap.value=e,this._renderCube(this._getSourceTarget(),0,t)}_applyPMREM(t){this._ggxMaterial===null&&(this._ggxMaterial=mg(),this._integrationMaterial=hg());let n=this._cubeSize,r=t.texture.mipmaps.length-1,i=this._ggxMaterial.uniforms;i.envMap.value=this._sourceTarget.texture;let a=this._integrationMaterial.uniforms;a.envMap.value=this._sourceTarget.texture,a.sourceLod.value=Math.log2(n/sg);for(let o=0;o<=r;o++){let s=e.lodToRoughness(o,r);if(o>r-cg)a.roughness.value=s,this._renderCube(t,o,this._integrationMaterial);else{let e=s>0?Math.log2(n)+.5*Math.log2(6/(og*s**4))+.5:0;i.roughness.value=s,i.lodBias.value=e,this._renderCube(t,o,this._ggxMaterial)}}}_blur(e,t){this._blurMaterial===null&&(this._blurMaterial=gg());let n=this._blurMaterial,r=n.uniforms,i=this._sourceTarget;r.sigma.value=Math.min(t,Math.PI)/Math.SQRT2,r.envMap.value=i.texture,this._renderCube(e,0,n),r.envMap.value=e.texture,this._renderCube(i,0,n)}};function fg(e,t,n){return new ng(e,{minFilter:Rc,generateMipmaps:t,type:Kc,colorSpace:$l,depthBuffer:n})}function pg(e,t,n){return new Sm({name:e,uniforms:t,vertexShader:Q.cube_vert,fragmentShader:n,side:1,blending:0,depthTest:!1,depthWrite:!1})}function mg(){return pg(`PMREMGGXConvolution`,{envMap:{value:null},roughness:{value:0},lodBias:{value:0}},`

		#define GGX_SAMPLES ${og}u

		varying vec3 vWorldDirection;

		uniform samplerCube envMap;
		uniform float roughness;
		uniform float lodBias;

		#include <common>

		// Van der Corput radical inverse
		float radicalInverse_VdC( uint bits ) {

			bits = ( bits << 16u ) | ( bits >> 16u );
			bits = ( ( bits & 0x55555555u ) << 1u ) | ( ( bits & 0xAAAAAAAAu ) >> 1u );
			bits = ( ( bits & 0x33333333u ) << 2u ) | ( ( bits & 0xCCCCCCCCu ) >> 2u );
			bits = ( ( bits & 0x0F0F0F0Fu ) << 4u ) | ( ( bits & 0xF0F0F0F0u ) >> 4u );
			bits = ( ( bits & 0x00FF00FFu ) << 8u ) | ( ( bits & 0xFF00FF00u ) >> 8u );
			return float( bits ) * 2.3283064365386963e-10; // / 0x100000000

		}

		// Hammersley sequence
		vec2 hammersley( uint i, uint N ) {

			return vec2( float( i ) / float( N ), radicalInverse_VdC( i ) );

		}

		void main() {

			vec3 N = normalize( vWorldDirection );

			// For very low roughness, just sample the environment directly
			if ( roughness < 0.001 ) {

				gl_FragColor = vec4( textureLod( envMap, N, 0.0 ).rgb, 1.0 );
				return;

			}

			float alpha = roughness * roughness;
			float alpha2 = alpha * alpha;

			// Tangent space basis for VNDF sampling
			vec3 up = abs( N.z ) < 0.999 ? vec3( 0.0, 0.0, 1.0 ) : vec3( 1.0, 0.0, 0.0 );
			vec3 tangent = normalize( cross( up, N ) );
			vec3 bitangent = cross( N, tangent );

			vec3 prefilteredColor = vec3( 0.0 );
			float totalWeight = 0.0;

			for ( uint i = 0u; i < GGX_SAMPLES; i ++ ) {

				vec2 Xi = hammersley( i, GGX_SAMPLES );

				// With V = N, sample the reflected direction directly.
				float invQ = 1.0 / ( 1.0 - Xi.x + alpha2 * Xi.x );
				float NdotL = ( 1.0 - Xi.x - alpha2 * Xi.x ) * invQ;

				if ( NdotL > 0.0 ) {

					float phi = 2.0 * PI * Xi.y;
					float sinTheta = 2.0 * alpha * sqrt( Xi.x * ( 1.0 - Xi.x ) ) * invQ;
					vec3 L = N * NdotL + ( tangent * cos( phi ) + bitangent * sin( phi ) ) * sinTheta;

					// Match the source mip to the sample's solid angle. The terms
					// independent of the sample are precomputed in lodBias.
					float d = alpha2 * invQ;
					float lod = max( log2( d ) + lodBias, 0.0 );

					// Weight by NdotL for the split-sum approximation
					prefilteredColor += textureLod( envMap, L, lod ).rgb * NdotL;
					totalWeight += NdotL;

				}

			}

			gl_FragColor = vec4( prefilteredColor / totalWeight, 1.0 );

		}
	`)}function hg(){return pg(`PMREMGGXIntegration`,{envMap:{value:null},roughness:{value:0},sourceLod:{value:0},sourceSize:{value:sg}},`

		varying vec3 vWorldDirection;

		uniform samplerCube envMap;
		uniform float roughness;
		uniform float sourceLod;
		uniform int sourceSize;

		void main() {

			vec3 N = normalize( vWorldDirection );

			float alpha = roughness * roughness;
			float alpha2 = alpha * alpha;

			float texelSize = 2.0 / float( sourceSize );

			vec3 prefilteredColor = vec3( 0.0 );
			float totalWeight = 0.0;

			// Pair opposite texels: only the one in N's hemisphere contributes.
			for ( int face = 0; face < 3; face ++ ) {

				for ( int y = 0; y < sourceSize; y ++ ) {

					for ( int x = 0; x < sourceSize; x ++ ) {

						vec2 uv = ( vec2( x, y ) + 0.5 ) * texelSize - 1.0;
						vec3 texelDirection = face == 0 ? vec3( 1.0, uv ) : ( face == 1 ? vec3( uv.x, 1.0, uv.y ) : vec3( uv, 1.0 ) );

						float invDistance = inversesqrt( 1.0 + dot( uv, uv ) );
						float NdotL = dot( N, texelDirection );
						texelDirection *= NdotL < 0.0 ? - 1.0 : 1.0;
						NdotL = abs( NdotL ) * invDistance;

						// With V = N, NdotH squared is ( 1 + NdotL ) / 2. Common factors
						// in the GGX distribution and texel solid angle cancel when normalized.
						float d = 1.0 + alpha2 + ( alpha2 - 1.0 ) * NdotL;
						float weight = NdotL * invDistance * invDistance * invDistance / ( d * d );

						prefilteredColor += textureLod( envMap, texelDirection, sourceLod ).rgb * weight;
						totalWeight += weight;

					}

				}

			}

			gl_FragColor = vec4( prefilteredColor / totalWeight, 1.0 );

		}
	`)}function gg(){return pg(`PMREMSphericalGaussianBlur`,{envMap:{value:null},sigma:{value:0}},`

		#define SAMPLES ${ag}
		#define GOLDEN_ANGLE 2.39996322973

		varying vec3 vWorldDirection;

		uniform samplerCube envMap;
		uniform float sigma;

		#include <common>

		void main() {

			vec3 outputDirection = normalize( vWorldDirection );

			vec3 up = abs( outputDirection.z ) < 0.999 ? vec3( 0.0, 0.0, 1.0 ) : vec3( 1.0, 0.0, 0.0 );
			vec3 tangent = normalize( cross( up, outputDirection ) );
			vec3 bitangent = cross( outputDirection, tangent );

			// Truncate the kernel at three standard deviations or at the antipode.
			float thetaMax = min( 3.0 * sigma, PI );
			float truncation = 1.0 - exp( - 0.5 * thetaMax * thetaMax / ( sigma * sigma ) );

			vec3 accumColor = vec3( 0.0 );
			float accumWeight = 0.0;

			for ( int i = 0; i < SAMPLES; i ++ ) {

				// Stratified inverse-CDF sampling of the Gaussian, placed on a golden-angle spiral.
				float stratum = ( float( i ) + 0.5 ) / float( SAMPLES );
				float theta = sigma * sqrt( - 2.0 * log( 1.0 - stratum * truncation ) );
				float phi = float( i ) * GOLDEN_ANGLE;

				vec3 offset = cos( phi ) * tangent + sin( phi ) * bitangent;
				vec3 sampleDirection = cos( theta ) * outputDirection + sin( theta ) * offset;

				// Correct the planar sample density to solid angle.
				float weight = sin( theta ) / theta;

				accumColor += weight * textureLod( envMap, sampleDirection, 0.0 ).rgb;
				accumWeight += weight;

			}

			gl_FragColor = vec4( accumColor / accumWeight, 1.0 );

		}
	`)}function _g(){return pg(`PMREMEquirectangularToCubemap`,{envMap:{value:null}},`

		varying vec3 vWorldDirection;

		uniform sampler2D envMap;

		#include <common>

		void main() {

			// Average four subpixel samples to preserve small, bright features.
			vec3 direction = normalize( vWorldDirection );
			vec3 dx = dFdx( direction ) * 0.25;
			vec3 dy = dFdy( direction ) * 0.25;

			vec3 color = textureLod( envMap, equirectUv( normalize( direction - dx - dy ) ), 0.0 ).rgb;
			color += textureLod( envMap, equirectUv( normalize( direction + dx - dy ) ), 0.0 ).rgb;
			color += textureLod( envMap, equirectUv( normalize( direction - dx + dy ) ), 0.0 ).rgb;
			color += textureLod( envMap, equirectUv( normalize( direction + dx + dy ) ), 0.0 ).rgb;
			gl_FragColor = vec4( color * 0.25, 1.0 );

		}
	`)}function vg(){return pg(`PMREMCubemapToCubemap`,{envMap:{value:null},flipEnvMap:{value:-1}},`

		varying vec3 vWorldDirection;

		uniform samplerCube envMap;
		uniform float flipEnvMap;

		void main() {

			gl_FragColor = vec4( textureCube( envMap, vec3( flipEnvMap * vWorldDirection.x, vWorldDirection.yz ) ).rgb, 1.0 );

		}
	`)}function yg(e){let t=new WeakMap,n=new WeakMap,r=null;function i(e,t=!1){return e==null?null:t?o(e):a(e)}function a(n){if(n&&n.isTexture){let r=n.mapping;if(r===303||r===304){if(t.has(n)){let e=t.get(n).texture;return s(e,n.mapping)}{let r=n.image;if(r&&r.height>0){let i=new ng(r.height);return i.fromEquirectangularTexture(e,n),t.set(n,i),n.addEventListener(`dispose`,l),s(i.texture,n.mapping)}return null}}}return n}function o(t){if(t&&t.isTexture&&t.isPMREMTexture!==!0){let i=t.mapping,a=i===303||i===304,o=i===301||i===302;if(a||o){let i=n.get(t),s=i===void 0?0:i.texture.pmremVersion;if(t.isRenderTargetTexture&&t.pmremVersion!==s)return r===null&&(r=new dg(e)),i=a?r.fromEquirectangular(t,i):r.fromCubemap(t,i),i.texture.pmremVersion=t.pmremVersion,n.set(t,i),i.texture;if(i!==void 0)return i.texture;{let s=t.image;return a&&s&&s.height>0||o&&s&&c(s)?(r===null&&(r=new dg(e)),i=a?r.fromEquirectangular(t):r.fromCubemap(t),i.texture.pmremVersion=t.pmremVersion,n.set(t,i),t.addEventListener(`dispose`,u),i.texture):null}}}return t}function s(e,t){return t===303?e.mapping=301:t===304&&(e.mapping=302),e}function c(e){let t=0;for(let n=0;n<6;n++)e[n]!==void 0&&t++;return t===6}function l(e){let n=e.target;n.removeEventListener(`dispose`,l);let r=t.get(n);r!==void 0&&(t.delete(n),r.dispose())}function u(e){let t=e.target;t.removeEventListener(`dispose`,u);let r=n.get(t);r!==void 0&&(n.delete(t),r.dispose())}function d(){t=new WeakMap,n=new WeakMap,r!==null&&(r.dispose(),r=null)}return{get:i,dispose:d}}function bg(e){let t={};function n(n){if(t[n]!==void 0)return t[n];let r=e.getExtension(n);return t[n]=r,r}return{has:function(e){return n(e)!==null},init:function(){n(`EXT_color_buffer_float`),n(`WEBGL_clip_cull_distance`),n(`OES_texture_float_linear`),n(`EXT_color_buffer_half_float`),n(`WEBGL_multisampled_render_to_texture`),n(`WEBGL_render_shared_exponent`)},get:function(e){let t=n(e);return t===null&&fu(`WebGLRenderer: `+e+` extension not supported.`),t}}}function xg(e,t,n,r){let i={},a=new WeakMap,o=new FinalizationRegistry(e=>delete i[e]);function s(e){c(e.target)}function c(e){e.index!==null&&t.remove(e.index);for(let n in e.attributes)t.remove(e.attributes[n]);e.removeEventListener(`dispose`,s),delete i[e.id],o.unregister(e);let c=a.get(e);c&&(t.remove(c),a.delete(e)),r.releaseStatesOfGeometry(e),e.isInstancedBufferGeometry===!0&&delete e._maxInstanceCount,n.memory.geometries--}function l(e,t){return i[t.id]===void 0&&(t.addEventListener(`dispose`,s),i[t.id]=new WeakRef(t),o.register(t,t.id,t),n.memory.geometries++),t}function u(n){let r=n.attributes;for(let n in r)t.update(r[n],e.ARRAY_BUFFER)}function d(e){let n=e.index,r=e.attributes.position,i=0;if(r===void 0)return;let o=n===null?r.array.length/3-1:n.array.length,s=new(r.count>=65535?Af:kf)(Math.ceil(o/3)*6,1),c=s.array;if(n!==null){let e=n.array;i=n.version;for(let t=0,n=0;t<o;t+=3){let r=e[t+0],i=e[t+1],a=e[t+2];c[n++]=r,c[n++]=i,c[n++]=i,c[n++]=a,c[n++]=a,c[n++]=r}}else{i=r.version;for(let e=0,t=0;e<o;e+=3){let n=e+0,r=e+1,i=e+2;c[t++]=n,c[t++]=r,c[t++]=r,c[t++]=i,c[t++]=i,c[t++]=n}}s.version=i;let l=a.get(e);l&&t.remove(l),a.set(e,s)}function f(e){let t=a.get(e);if(t){let n=e.index;n!==null&&t.version<n.version&&d(e)}else d(e);return a.get(e)}function p(){for(let e in i){let t=i[e].deref();t!==void 0&&c(t)}}return{get:l,update:u,getWireframeAttribute:f,dispose:p}}function Sg(e,t,n){let r;function i(e){r=e}let a,o;function s(e){a=e.type,o=e.bytesPerElement}function c(t,i){e.drawElements(r,i,a,t*o),n.update(i,r,1)}function l(t,i,s){s!==0&&(e.drawElementsInstanced(r,i,a,t*o,s),n.update(i,r,s))}function u(e,i,o){if(o===0)return;t.get(`WEBGL_multi_draw`).multiDrawElementsWEBGL(r,i,0,a,e,0,o);let s=0;for(let e=0;e<o;e++)s+=i[e];n.update(s,r,1)}this.setMode=i,this.setIndex=s,this.render=c,this.renderInstances=l,this.renderMultiDraw=u}function Cg(e){let t={geometries:0,textures:0},n={frame:0,calls:0,triangles:0,points:0,lines:0};function r(t,r,i){switch(n.calls++,r){case e.TRIANGLES:n.triangles+=t/3*i;break;case e.LINES:n.lines+=t/2*i;break;case e.LINE_STRIP:n.lines+=i*(t-1);break;case e.LINE_LOOP:n.lines+=i*t;break;case e.POINTS:n.points+=i*t;break;default:K(`WebGLInfo: Unknown draw mode:`,r)}}function i(){n.calls=0,n.triangles=0,n.points=0,n.lines=0}return{memory:t,render:n,programs:null,autoReset:!0,reset:i,update:r}}function wg(e,t,n){let r=new WeakMap,i=new sd;function a(a,o,s){let c=a.morphTargetInfluences,l=o.morphAttributes.position||o.morphAttributes.normal||o.morphAttributes.color,u=l===void 0?0:l.length,d=r.get(o);if(d===void 0||d.count!==u){d!==void 0&&d.texture.dispose();let e=o.morphAttributes.position!==void 0,n=o.morphAttributes.normal!==void 0,a=o.morphAttributes.color!==void 0,s=o.morphAttributes.position||[],c=o.morphAttributes.normal||[],l=o.morphAttributes.color||[],f=0;e===!0&&(f=1),n===!0&&(f=2),a===!0&&(f=3);let p=o.attributes.position.count*f,m=1;p>t.maxTextureSize&&(m=Math.ceil(p/t.maxTextureSize),p=t.maxTextureSize);let h=new Float32Array(p*m*4*u),g=new ud(h,p,m,u);g.type=Gc,g.needsUpdate=!0;let _=f*4;for(let t=0;t<u;t++){let r=s[t],o=c[t],u=l[t],d=p*m*4*t;for(let t=0;t<r.count;t++){let s=t*_;e===!0&&(i.fromBufferAttribute(r,t),h[d+s+0]=i.x,h[d+s+1]=i.y,h[d+s+2]=i.z,h[d+s+3]=0),n===!0&&(i.fromBufferAttribute(o,t),h[d+s+4]=i.x,h[d+s+5]=i.y,h[d+s+6]=i.z,h[d+s+7]=0),a===!0&&(i.fromBufferAttribute(u,t),h[d+s+8]=i.x,h[d+s+9]=i.y,h[d+s+10]=i.z,h[d+s+11]=u.itemSize===4?i.w:1)}}d={count:u,texture:g,size:new J(p,m)},r.set(o,d);function v(){g.dispose(),r.delete(o),o.removeEventListener(`dispose`,v)}o.addEventListener(`dispose`,v)}if(a.isInstancedMesh===!0&&a.morphTexture!==null)s.getUniforms().setValue(e,`morphTexture`,a.morphTexture,n);else{let t=0;for(let e=0;e<c.length;e++)t+=c[e];let n=o.morphTargetsRelative?1:1-t;s.getUniforms().setValue(e,`morphTargetBaseInfluence`,n),s.getUniforms().setValue(e,`morphTargetInfluences`,c)}s.getUniforms().setValue(e,`morphTargetsTexture`,d.texture,n),s.getUniforms().setValue(e,`morphTargetsTextureSize`,d.size)}return{update:a}}function Tg(e,t,n,r,i){let a=new WeakMap;function o(r){let o=i.render.frame,s=r.geometry,l=t.get(r,s);if(a.get(l)!==o&&(t.update(l),a.set(l,o)),r.isInstancedMesh&&(r.hasEventListener(`dispose`,c)===!1&&r.addEventListener(`dispose`,c),a.get(r)!==o&&(n.update(r.instanceMatrix,e.ARRAY_BUFFER),r.instanceColor!==null&&n.update(r.instanceColor,e.ARRAY_BUFFER),a.set(r,o))),r.isSkinnedMesh){let e=r.skeleton;a.get(e)!==o&&(e.update(),a.set(e,o))}return l}function s(){a=new WeakMap}function c(e){let t=e.target;t.removeEventListener(`dispose`,c),r.releaseStatesOfObject(t),n.remove(t.instanceMatrix),t.instanceColor!==null&&n.remove(t.instanceColor)}return{update:o,dispose:s}}var Eg={1:`LINEAR_TONE_MAPPING`,2:`REINHARD_TONE_MAPPING`,3:`CINEON_TONE_MAPPING`,4:`ACES_FILMIC_TONE_MAPPING`,6:`AGX_TONE_MAPPING`,7:`NEUTRAL_TONE_MAPPING`,5:`CUSTOM_TONE_MAPPING`};function Dg(e,t,n,r,i,a){let o=new ld(t,n,{type:e,depthBuffer:i,stencilBuffer:a,samples:r?4:0,storeMultisampledDepthBuffer:!1,storeMultisampledStencilBuffer:!1,resolveDepthBuffer:!1,resolveStencilBuffer:!1}),s=null,c=null,l=null,u=new Uf;u.setAttribute(`position`,new jf([-1,3,0,-1,-1,0,3,-1,0],3)),u.setAttribute(`uv`,new jf([0,2,0,0,2,0],2));let d=new Cm({uniforms:{tDiffuse:{value:null}},vertexShader:`
			precision highp float;

			uniform mat4 modelViewMatrix;
			uniform mat4 projectionMatrix;

			attribute vec3 position;
			attribute vec2 uv;

			varying vec2 vUv;

			void main() {
				vUv = uv;
				gl_Position = projectionMatrix * modelViewMatrix * vec4( position, 1.0 );
			}`,fragmentShader:`
			precision highp float;

			uniform sampler2D tDiffuse;

			varying vec2 vUv;

			#include <tonemapping_pars_fragment>
			#include <colorspace_pars_fragment>

			void main() {
				gl_FragColor = texture2D( tDiffuse, vUv );

				#ifdef LINEAR_TONE_MAPPING
					gl_FragColor.rgb = LinearToneMapping( gl_FragColor.rgb );
				#elif defined( REINHARD_TONE_MAPPING )
					gl_FragColor.rgb = ReinhardToneMapping( gl_FragColor.rgb );
				#elif defined( CINEON_TONE_MAPPING )
					gl_FragColor.rgb = CineonToneMapping( gl_FragColor.rgb );
				#elif defined( ACES_FILMIC_TONE_MAPPING )
					gl_FragColor.rgb = ACESFilmicToneMapping( gl_FragColor.rgb );
				#elif defined( AGX_TONE_MAPPING )
					gl_FragColor.rgb = AgXToneMapping( gl_FragColor.rgb );
				#elif defined( NEUTRAL_TONE_MAPPING )
					gl_FragColor.rgb = NeutralToneMapping( gl_FragColor.rgb );
				#elif defined( CUSTOM_TONE_MAPPING )
					gl_FragColor.rgb = CustomToneMapping( gl_FragColor.rgb );
				#endif

				#ifdef SRGB_TRANSFER
					gl_FragColor = sRGBTransferOETF( gl_FragColor );
				#endif
			}`,depthTest:!1,depthWrite:!1}),f=new _p(u,d),p=new ch(-1,1,1,-1,0,1),m=null,h=null,g=!1,_,v=null,y=[],b=!1;this.setSize=function(e,t){o.setSize(e,t),s!==null&&s.setSize(e,t),c!==null&&c.setSize(e,t);for(let n=0;n<y.length;n++){let r=y[n];r.setSize&&r.setSize(e,t)}},this.setEffects=function(e){y=e,b=y.length>0&&y[0].isRenderPass===!0;let t=o.width,n=o.height;y.length>0&&s===null&&(s=new ld(t,n,{type:Kc,depthBuffer:!1,stencilBuffer:!1}),c=new ld(t,n,{type:Kc,depthBuffer:!1,stencilBuffer:!1}));let r=i===!0&&y.some(e=>e.needsDepthTexture===!0);r!==(o.depthTexture!==null)&&(r===!0&&l===null&&(l=new Xp(t,n),a===!0&&(l.format=nl,l.type=Yc)),o.dispose(),o.depthTexture=r?l:null,o.resolveDepthBuffer=r,o.storeMultisampledDepthBuffer=r);for(let e=0;e<y.length;e++){let i=y[e];i.setSize&&i.setSize(t,n),r&&i.needsDepthTexture===!0&&i.setDepthTexture&&i.setDepthTexture(l)}},this.begin=function(e,t){if(g||e.toneMapping===0&&y.length===0)return!1;if(v=t,t!==null){let e=t.width,n=t.height;(o.width!==e||o.height!==n)&&this.setSize(e,n)}return b===!1&&e.setRenderTarget(o),_=e.toneMapping,e.toneMapping=0,!0},this.hasRenderPass=function(){return b},this.end=function(e,t){e.toneMapping=_,g=!0;let n=o,r=s;for(let i=0;i<y.length;i++){let a=y[i];a.enabled!==!1&&(a.render(e,r,n,t),a.needsSwap!==!1&&(n=r,r=r===s?c:s))}if(m!==e.outputColorSpace||h!==e.toneMapping){m=e.outputColorSpace,h=e.toneMapping,d.defines={},Xu.getTransfer(m)===`srgb`&&(d.defines.SRGB_TRANSFER=``);let t=Eg[h];t&&(d.defines[t]=``),d.needsUpdate=!0}d.uniforms.tDiffuse.value=n.texture,e.setRenderTarget(v),e.render(f,p),v=null,g=!1},this.isCompositing=function(){return g},this.dispose=function(){o.dispose(),s!==null&&s.dispose(),c!==null&&c.dispose(),u.dispose(),d.dispose()}}var Og=new od,kg=new Xp(1,1),Ag=new Zp(1),jg=new ud,Mg=new dd,Ng=new Yp,Pg=[],Fg=[],Ig=new Float32Array(16),Lg=new Float32Array(9),Rg=new Float32Array(4);function zg(e,t,n){let r=e[0];if(r<=0||r>0)return e;let i=t*n,a=Pg[i];if(a===void 0&&(a=new Float32Array(i),Pg[i]=a),t!==0){r.toArray(a,0);for(let r=1,i=0;r!==t;++r)i+=n,e[r].toArray(a,i)}return a}function Bg(e,t){if(e.length!==t.length)return!1;for(let n=0,r=e.length;n<r;n++)if(e[n]!==t[n])return!1;return!0}function Vg(e,t){for(let n=0,r=t.length;n<r;n++)e[n]=t[n]}function Hg(e,t){let n=Fg[t];n===void 0&&(n=new Int32Array(t),Fg[t]=n);for(let r=0;r!==t;++r)n[r]=e.allocateTextureUnit();return n}function Ug(e,t){let n=this.cache;n[0]!==t&&(e.uniform1f(this.addr,t),n[0]=t)}function Wg(e,t){let n=this.cache;if(t.x!==void 0)(n[0]!==t.x||n[1]!==t.y)&&(e.uniform2f(this.addr,t.x,t.y),n[0]=t.x,n[1]=t.y);else{if(Bg(n,t))return;e.uniform2fv(this.addr,t),Vg(n,t)}}function Gg(e,t){let n=this.cache;if(t.x!==void 0)(n[0]!==t.x||n[1]!==t.y||n[2]!==t.z)&&(e.uniform3f(this.addr,t.x,t.y,t.z),n[0]=t.x,n[1]=t.y,n[2]=t.z);else if(t.r!==void 0)(n[0]!==t.r||n[1]!==t.g||n[2]!==t.b)&&(e.uniform3f(this.addr,t.r,t.g,t.b),n[0]=t.r,n[1]=t.g,n[2]=t.b);else{if(Bg(n,t))return;e.uniform3fv(this.addr,t),Vg(n,t)}}function Kg(e,t){let n=this.cache;if(t.x!==void 0)(n[0]!==t.x||n[1]!==t.y||n[2]!==t.z||n[3]!==t.w)&&(e.uniform4f(this.addr,t.x,t.y,t.z,t.w),n[0]=t.x,n[1]=t.y,n[2]=t.z,n[3]=t.w);else{if(Bg(n,t))return;e.uniform4fv(this.addr,t),Vg(n,t)}}function qg(e,t){let n=this.cache,r=t.elements;if(r===void 0){if(Bg(n,t))return;e.uniformMatrix2fv(this.addr,!1,t),Vg(n,t)}else{if(Bg(n,r))return;Rg.set(r),e.uniformMatrix2fv(this.addr,!1,Rg),Vg(n,r)}}function Jg(e,t){let n=this.cache,r=t.elements;if(r===void 0){if(Bg(n,t))return;e.uniformMatrix3fv(this.addr,!1,t),Vg(n,t)}else{if(Bg(n,r))return;Lg.set(r),e.uniformMatrix3fv(this.addr,!1,Lg),Vg(n,r)}}function Yg(e,t){let n=this.cache,r=t.elements;if(r===void 0){if(Bg(n,t))return;e.uniformMatrix4fv(this.addr,!1,t),Vg(n,t)}else{if(Bg(n,r))return;Ig.set(r),e.uniformMatrix4fv(this.addr,!1,Ig),Vg(n,r)}}function Xg(e,t){let n=this.cache;n[0]!==t&&(e.uniform1i(this.addr,t),n[0]=t)}function Zg(e,t){let n=this.cache;if(t.x!==void 0)(n[0]!==t.x||n[1]!==t.y)&&(e.uniform2i(this.addr,t.x,t.y),n[0]=t.x,n[1]=t.y);else{if(Bg(n,t))return;e.uniform2iv(this.addr,t),Vg(n,t)}}function Qg(e,t){let n=this.cache;if(t.x!==void 0)(n[0]!==t.x||n[1]!==t.y||n[2]!==t.z)&&(e.uniform3i(this.addr,t.x,t.y,t.z),n[0]=t.x,n[1]=t.y,n[2]=t.z);else{if(Bg(n,t))return;e.uniform3iv(this.addr,t),Vg(n,t)}}function $g(e,t){let n=this.cache;if(t.x!==void 0)(n[0]!==t.x||n[1]!==t.y||n[2]!==t.z||n[3]!==t.w)&&(e.uniform4i(this.addr,t.x,t.y,t.z,t.w),n[0]=t.x,n[1]=t.y,n[2]=t.z,n[3]=t.w);else{if(Bg(n,t))return;e.uniform4iv(this.addr,t),Vg(n,t)}}function e_(e,t){let n=this.cache;n[0]!==t&&(e.uniform1ui(this.addr,t),n[0]=t)}function t_(e,t){let n=this.cache;if(t.x!==void 0)(n[0]!==t.x||n[1]!==t.y)&&(e.uniform2ui(this.addr,t.x,t.y),n[0]=t.x,n[1]=t.y);else{if(Bg(n,t))return;e.uniform2uiv(this.addr,t),Vg(n,t)}}function n_(e,t){let n=this.cache;if(t.x!==void 0)(n[0]!==t.x||n[1]!==t.y||n[2]!==t.z)&&(e.uniform3ui(this.addr,t.x,t.y,t.z),n[0]=t.x,n[1]=t.y,n[2]=t.z);else{if(Bg(n,t))return;e.uniform3uiv(this.addr,t),Vg(n,t)}}function r_(e,t){let n=this.cache;if(t.x!==void 0)(n[0]!==t.x||n[1]!==t.y||n[2]!==t.z||n[3]!==t.w)&&(e.uniform4ui(this.addr,t.x,t.y,t.z,t.w),n[0]=t.x,n[1]=t.y,n[2]=t.z,n[3]=t.w);else{if(Bg(n,t))return;e.uniform4uiv(this.addr,t),Vg(n,t)}}function i_(e){return e.version===0&&(e.compareFunction=519,e.needsUpdate=!0),e}function a_(e,t,n){let r=this.cache,i=n.allocateTextureUnit();r[0]!==i&&(e.uniform1i(this.addr,i),r[0]=i);let a;a=this.type===e.SAMPLER_2D_SHADOW?i_(kg):Og,n.setTexture2D(t||a,i)}function o_(e,t,n){let r=this.cache,i=n.allocateTextureUnit();r[0]!==i&&(e.uniform1i(this.addr,i),r[0]=i),n.setTexture3D(t||Mg,i)}function s_(e,t,n){let r=this.cache,i=n.allocateTextureUnit();r[0]!==i&&(e.uniform1i(this.addr,i),r[0]=i);let a;a=this.type===e.SAMPLER_CUBE_SHADOW?i_(Ag):Ng,n.setTextureCube(t||a,i)}function c_(e,t,n){let r=this.cache,i=n.allocateTextureUnit();r[0]!==i&&(e.uniform1i(this.addr,i),r[0]=i),n.setTexture2DArray(t||jg,i)}function l_(e){switch(e){case 5126:return Ug;case 35664:return Wg;case 35665:return Gg;case 35666:return Kg;case 35674:return qg;case 35675:return Jg;case 35676:return Yg;case 5124:case 35670:return Xg;case 35667:case 35671:return Zg;case 35668:case 35672:return Qg;case 35669:case 35673:return $g;case 5125:return e_;case 36294:return t_;case 36295:return n_;case 36296:return r_;case 35678:case 36198:case 36298:case 36306:case 35682:return a_;case 35679:case 36299:case 36307:return o_;case 35680:case 36300:case 36308:case 36293:return s_;case 36289:case 36303:case 36311:case 36292:return c_}}function u_(e,t){e.uniform1fv(this.addr,t)}function d_(e,t){let n=zg(t,this.size,2);e.uniform2fv(this.addr,n)}function f_(e,t){let n=zg(t,this.size,3);e.uniform3fv(this.addr,n)}function p_(e,t){let n=zg(t,this.size,4);e.uniform4fv(this.addr,n)}function m_(e,t){let n=zg(t,this.size,4);e.uniformMatrix2fv(this.addr,!1,n)}function h_(e,t){let n=zg(t,this.size,9);e.uniformMatrix3fv(this.addr,!1,n)}function g_(e,t){let n=zg(t,this.size,16);e.uniformMatrix4fv(this.addr,!1,n)}function __(e,t){e.uniform1iv(this.addr,t)}function v_(e,t){e.uniform2iv(this.addr,t)}function y_(e,t){e.uniform3iv(this.addr,t)}function b_(e,t){e.uniform4iv(this.addr,t)}function x_(e,t){e.uniform1uiv(this.addr,t)}function S_(e,t){e.uniform2uiv(this.addr,t)}function C_(e,t){e.uniform3uiv(this.addr,t)}function w_(e,t){e.uniform4uiv(this.addr,t)}function T_(e,t,n){let r=this.cache,i=t.length,a=Hg(n,i);Bg(r,a)||(e.uniform1iv(this.addr,a),Vg(r,a));let o;o=this.type===e.SAMPLER_2D_SHADOW?i_(kg):Og;for(let e=0;e!==i;++e)n.setTexture2D(t[e]||o,a[e])}function E_(e,t,n){let r=this.cache,i=t.length,a=Hg(n,i);Bg(r,a)||(e.uniform1iv(this.addr,a),Vg(r,a));for(let e=0;e!==i;++e)n.setTexture3D(t[e]||Mg,a[e])}function D_(e,t,n){let r=this.cache,i=t.length,a=Hg(n,i);Bg(r,a)||(e.uniform1iv(this.addr,a),Vg(r,a));let o;o=this.type===e.SAMPLER_CUBE_SHADOW?i_(Ag):Ng;for(let e=0;e!==i;++e)n.setTextureCube(t[e]||o,a[e])}function O_(e,t,n){let r=this.cache,i=t.length,a=Hg(n,i);Bg(r,a)||(e.uniform1iv(this.addr,a),Vg(r,a));for(let e=0;e!==i;++e)n.setTexture2DArray(t[e]||jg,a[e])}function k_(e){switch(e){case 5126:return u_;case 35664:return d_;case 35665:return f_;case 35666:return p_;case 35674:return m_;case 35675:return h_;case 35676:return g_;case 5124:case 35670:return __;case 35667:case 35671:return v_;case 35668:case 35672:return y_;case 35669:case 35673:return b_;case 5125:return x_;case 36294:return S_;case 36295:return C_;case 36296:return w_;case 35678:case 36198:case 36298:case 36306:case 35682:return T_;case 35679:case 36299:case 36307:return E_;case 35680:case 36300:case 36308:case 36293:return D_;case 36289:case 36303:case 36311:case 36292:return O_}}var A_=class{constructor(e,t,n){this.id=e,this.addr=n,this.cache=[],this.type=t.type,this.setValue=l_(t.type)}},j_=class{constructor(e,t,n){this.id=e,this.addr=n,this.cache=[],this.type=t.type,this.size=t.size,this.setValue=k_(t.type)}},M_=class{constructor(e){this.id=e,this.seq=[],this.map={}}setValue(e,t,n){let r=this.seq;for(let i=0,a=r.length;i!==a;++i){let a=r[i];a.setValue(e,t[a.id],n)}}},N_=/(\w+)(\])?(\[|\.)?/g;function P_(e,t){e.seq.push(t),e.map[t.id]=t}function F_(e,t,n){let r=e.name,i=r.length;for(N_.lastIndex=0;;){let a=N_.exec(r),o=N_.lastIndex,s=a[1],c=a[2]===`]`,l=a[3];if(c&&(s|=0),l===void 0||l===`[`&&o+2===i){P_(n,l===void 0?new A_(s,e,t):new j_(s,e,t));break}{let e=n.map[s];e===void 0&&(e=new M_(s),P_(n,e)),n=e}}}var I_=class{constructor(e,t){this.seq=[],this.map={};let n=e.getProgramParameter(t,e.ACTIVE_UNIFORMS);for(let r=0;r<n;++r){let n=e.getActiveUniform(t,r);F_(n,e.getUniformLocation(t,n.name),this)}let r=[],i=[];for(let t of this.seq)t.type===e.SAMPLER_2D_SHADOW||t.type===e.SAMPLER_CUBE_SHADOW||t.type===e.SAMPLER_2D_ARRAY_SHADOW?r.push(t):i.push(t);r.length>0&&(this.seq=r.concat(i))}setValue(e,t,n,r){let i=this.map[t];i!==void 0&&i.setValue(e,n,r)}setOptional(e,t,n){let r=t[n];r!==void 0&&this.setValue(e,n,r)}static upload(e,t,n,r){for(let i=0,a=t.length;i!==a;++i){let a=t[i],o=n[a.id];o.needsUpdate!==!1&&a.setValue(e,o.value,r)}}static seqWithValue(e,t){let n=[];for(let r=0,i=e.length;r!==i;++r){let i=e[r];i.id in t&&n.push(i)}return n}};function L_(e,t,n){let r=e.createShader(t);return e.shaderSource(r,n),e.compileShader(r),r}var R_=37297,z_=0;function B_(e,t){let n=e.split(`
`),r=[],i=Math.max(t-6,0),a=Math.min(t+6,n.length);for(let e=i;e<a;e++){let i=e+1;r.push(`${i===t?`>`:` `} ${i}: ${n[e]}`)}return r.join(`
`)}var V_=new X;function H_(e){Xu._getMatrix(V_,Xu.workingColorSpace,e);let t=`mat3( ${V_.elements.map(e=>e.toFixed(4))} )`;switch(Xu.getTransfer(e)){case eu:return[t,`LinearTransferOETF`];case tu:return[t,`sRGBTransferOETF`];default:return G(`WebGLProgram: Unsupported color space: `,e),[t,`LinearTransferOETF`]}}function U_(e,t,n){let r=e.getShaderParameter(t,e.COMPILE_STATUS),i=(e.getShaderInfoLog(t)||``).trim();if(r&&i===``)return``;let a=/ERROR: 0:(\d+)/.exec(i);if(a){let r=parseInt(a[1]);return n.toUpperCase()+`

`+i+`

`+B_(e.getShaderSource(t),r)}return i}function W_(e,t){let n=H_(t);return[`vec4 ${e}( vec4 value ) {`,`	return ${n[1]}( vec4( ${n[0]} * value.rgb, value.a ) );`,`}`].join(`
`)}var G_={1:`Linear`,2:`Reinhard`,3:`Cineon`,4:`ACESFilmic`,6:`AgX`,7:`Neutral`,5:`Custom`};function K_(e,t){let n=G_[t];return n===void 0?(G(`WebGLProgram: Unsupported toneMapping:`,t),`vec3 `+e+`( vec3 color ) { return LinearToneMapping( color ); }`):`vec3 `+e+`( vec3 color ) { return `+n+`ToneMapping( color ); }`}var q_=new Y;function J_(){return Xu.getLuminanceCoefficients(q_),[`float luminance( const in vec3 rgb ) {`,`	const vec3 weights = vec3( ${q_.x.toFixed(4)}, ${q_.y.toFixed(4)}, ${q_.z.toFixed(4)} );`,`	return dot( weights, rgb );`,`}`].join(`
`)}function Y_(e){return[e.extensionClipCullDistance?`#extension GL_ANGLE_clip_cull_distance : require`:``,e.extensionMultiDraw?`#extension GL_ANGLE_multi_draw : require`:``].filter(Q_).join(`
`)}function X_(e){let t=[];for(let n in e){let r=e[n];r!==!1&&t.push(`#define `+n+` `+r)}return t.join(`
`)}function Z_(e,t){let n={},r=e.getProgramParameter(t,e.ACTIVE_ATTRIBUTES);for(let i=0;i<r;i++){let r=e.getActiveAttrib(t,i),a=r.name,o=1;r.type===e.FLOAT_MAT2&&(o=2),r.type===e.FLOAT_MAT3&&(o=3),r.type===e.FLOAT_MAT4&&(o=4),n[a]={type:r.type,location:e.getAttribLocation(t,a),locationSize:o}}return n}function Q_(e){return e!==``}function $_(e,t){let n=t.numSpotLightShadows+t.numSpotLightMaps-t.numSpotLightShadowsWithMaps;return e.replace(/NUM_SUN_LIGHTS/g,t.numSunLights).replace(/NUM_DIR_LIGHTS/g,t.numDirLights).replace(/NUM_SPOT_LIGHTS/g,t.numSpotLights).replace(/NUM_SPOT_LIGHT_MAPS/g,t.numSpotLightMaps).replace(/NUM_SPOT_LIGHT_COORDS/g,n).replace(/NUM_RECT_AREA_LIGHTS/g,t.numRectAreaLights).replace(/NUM_POINT_LIGHTS/g,t.numPointLights).replace(/NUM_HEMI_LIGHTS/g,t.numHemiLights).replace(/NUM_SUN_LIGHT_SHADOWS/g,t.numSunLightShadows).replace(/NUM_DIR_LIGHT_SHADOWS/g,t.numDirLightShadows).replace(/NUM_SPOT_LIGHT_SHADOWS_WITH_MAPS/g,t.numSpotLightShadowsWithMaps).replace(/NUM_SPOT_LIGHT_SHADOWS/g,t.numSpotLightShadows).replace(/NUM_POINT_LIGHT_SHADOWS/g,t.numPointLightShadows).replace(/NUM_LIGHT_PROBE_GRIDS/g,t.numLightProbeGrids)}function ev(e,t){return e.replace(/NUM_CLIPPING_PLANES/g,t.numClippingPlanes).replace(/UNION_CLIPPING_PLANES/g,t.numClippingPlanes-t.numClipIntersection)}var tv=/^[ \t]*#include +<([\w\d./]+)>/gm;function nv(e){return e.replace(tv,rv)}function rv(e,t){let n=Q[t];if(n===void 0)throw Error(`THREE.WebGLProgram: Can not resolve #include <`+t+`>`);return nv(n)}var iv=/#pragma unroll_loop_start\s+for\s*\(\s*int\s+i\s*=\s*(\d+)\s*;\s*i\s*<\s*(\d+)\s*;\s*i\s*\+\+\s*\)\s*{([\s\S]+?)}\s+#pragma unroll_loop_end/g;function av(e){return e.replace(iv,ov)}function ov(e,t,n,r){let i=``;for(let e=parseInt(t);e<parseInt(n);e++)i+=r.replace(/\[\s*i\s*\]/g,`[ `+e+` ]`).replace(/UNROLLED_LOOP_INDEX/g,e);return i}function sv(e){let t=`precision ${e.precision} float;
	precision ${e.precision} int;
	precision ${e.precision} sampler2D;
	precision ${e.precision} samplerCube;
	precision ${e.precision} sampler3D;
	precision ${e.precision} sampler2DArray;
	precision ${e.precision} sampler2DShadow;
	precision ${e.precision} samplerCubeShadow;
	precision ${e.precision} sampler2DArrayShadow;
	precision ${e.precision} isampler2D;
	precision ${e.precision} isampler3D;
	precision ${e.precision} isamplerCube;
	precision ${e.precision} isampler2DArray;
	precision ${e.precision} usampler2D;
	precision ${e.precision} usampler3D;
	precision ${e.precision} usamplerCube;
	precision ${e.precision} usampler2DArray;
	`;return e.precision===`highp`?t+=`
#define HIGH_PRECISION`:e.precision===`mediump`?t+=`
#define MEDIUM_PRECISION`:e.precision===`lowp`&&(t+=`
#define LOW_PRECISION`),t}var cv={1:`SHADOWMAP_TYPE_PCF`,3:`SHADOWMAP_TYPE_VSM`};function lv(e){return cv[e.shadowMapType]||`SHADOWMAP_TYPE_BASIC`}var uv={302:`ENVMAP_MODE_REFRACTION`};function dv(e){return e.envMap===!1?`ENVMAP_MODE_REFLECTION`:uv[e.envMapMode]||`ENVMAP_MODE_REFLECTION`}var fv={0:`ENVMAP_BLENDING_MULTIPLY`,1:`ENVMAP_BLENDING_MIX`,2:`ENVMAP_BLENDING_ADD`};function pv(e){return e.envMap===!1?`ENVMAP_BLENDING_NONE`:fv[e.combine]||`ENVMAP_BLENDING_NONE`}function mv(e,t,n,r){let i=e.getContext(),a=n.defines,o=n.vertexShader,s=n.fragmentShader,c=lv(n),l=n.envMapPMREM===!0?`ENVMAP_TYPE_PMREM`:`ENVMAP_TYPE_CUBE`,u=dv(n),d=pv(n),f=Y_(n),p=X_(a),m=i.createProgram(),h,g,_=n.glslVersion?`#version `+n.glslVersion+`
`:``;n.isRawShaderMaterial?(h=[`#define SHADER_TYPE `+n.shaderType,`#define SHADER_NAME `+n.shaderName,p].filter(Q_).join(`
`),h.length>0&&(h+=`
`),g=[`#define SHADER_TYPE `+n.shaderType,`#define SHADER_NAME `+n.shaderName,p].filter(Q_).join(`
`),g.length>0&&(g+=`
`)):(h=[sv(n),`#define SHADER_TYPE `+n.shaderType,`#define SHADER_NAME `+n.shaderName,p,n.extensionClipCullDistance?`#define USE_CLIP_DISTANCE`:``,n.batching?`#define USE_BATCHING`:``,n.batchingColor?`#define USE_BATCHING_COLOR`:``,n.instancing?`#define USE_INSTANCING`:``,n.instancingColor?`#define USE_INSTANCING_COLOR`:``,n.instancingMorph?`#define USE_INSTANCING_MORPH`:``,n.useFog&&n.fog?`#define USE_FOG`:``,n.useFog&&n.fogExp2?`#define FOG_EXP2`:``,n.map?`#define USE_MAP`:``,n.envMap?`#define USE_ENVMAP`:``,n.envMap?`#define `+u:``,n.lightMap?`#define USE_LIGHTMAP`:``,n.aoMap?`#define USE_AOMAP`:``,n.bumpMap?`#define USE_BUMPMAP`:``,n.normalMap?`#define USE_NORMALMAP`:``,n.normalMapObjectSpace?`#define USE_NORMALMAP_OBJECTSPACE`:``,n.normalMapTangentSpace?`#define USE_NORMALMAP_TANGENTSPACE`:``,n.displacementMap?`#define USE_DISPLACEMENTMAP`:``,n.emissiveMap?`#define USE_EMISSIVEMAP`:``,n.anisotropy?`#define USE_ANISOTROPY`:``,n.anisotropyMap?`#define USE_ANISOTROPYMAP`:``,n.clearcoatMap?`#define USE_CLEARCOATMAP`:``,n.clearcoatRoughnessMap?`#define USE_CLEARCOAT_ROUGHNESSMAP`:``,n.clearcoatNormalMap?`#define USE_CLEARCOAT_NORMALMAP`:``,n.diffuseRoughnessMap?`#define USE_DIFFUSE_ROUGHNESSMAP`:``,n.iridescenceMap?`#define USE_IRIDESCENCEMAP`:``,n.iridescenceThicknessMap?`#define USE_IRIDESCENCE_THICKNESSMAP`:``,n.specularMap?`#define USE_SPECULARMAP`:``,n.specularColorMap?`#define USE_SPECULAR_COLORMAP`:``,n.specularIntensityMap?`#define USE_SPECULAR_INTENSITYMAP`:``,n.roughnessMap?`#define USE_ROUGHNESSMAP`:``,n.metalnessMap?`#define USE_METALNESSMAP`:``,n.alphaMap?`#define USE_ALPHAMAP`:``,n.alphaHash?`#define USE_ALPHAHASH`:``,n.transmission?`#define USE_TRANSMISSION`:``,n.transmissionMap?`#define USE_TRANSMISSIONMAP`:``,n.thicknessMap?`#define USE_THICKNESSMAP`:``,n.sheenColorMap?`#define USE_SHEEN_COLORMAP`:``,n.sheenRoughnessMap?`#define USE_SHEEN_ROUGHNESSMAP`:``,n.mapUv?`#define MAP_UV `+n.mapUv:``,n.alphaMapUv?`#define ALPHAMAP_UV `+n.alphaMapUv:``,n.lightMapUv?`#define LIGHTMAP_UV `+n.lightMapUv:``,n.aoMapUv?`#define AOMAP_UV `+n.aoMapUv:``,n.emissiveMapUv?`#define EMISSIVEMAP_UV `+n.emissiveMapUv:``,n.bumpMapUv?`#define BUMPMAP_UV `+n.bumpMapUv:``,n.normalMapUv?`#define NORMALMAP_UV `+n.normalMapUv:``,n.displacementMapUv?`#define DISPLACEMENTMAP_UV `+n.displacementMapUv:``,n.metalnessMapUv?`#define METALNESSMAP_UV `+n.metalnessMapUv:``,n.roughnessMapUv?`#define ROUGHNESSMAP_UV `+n.roughnessMapUv:``,n.anisotropyMapUv?`#define ANISOTROPYMAP_UV `+n.anisotropyMapUv:``,n.clearcoatMapUv?`#define CLEARCOATMAP_UV `+n.clearcoatMapUv:``,n.clearcoatNormalMapUv?`#define CLEARCOAT_NORMALMAP_UV `+n.clearcoatNormalMapUv:``,n.clearcoatRoughnessMapUv?`#define CLEARCOAT_ROUGHNESSMAP_UV `+n.clearcoatRoughnessMapUv:``,n.diffuseRoughnessMapUv?`#define DIFFUSE_ROUGHNESSMAP_UV `+n.diffuseRoughnessMapUv:``,n.iridescenceMapUv?`#define IRIDESCENCEMAP_UV `+n.iridescenceMapUv:``,n.iridescenceThicknessMapUv?`#define IRIDESCENCE_THICKNESSMAP_UV `+n.iridescenceThicknessMapUv:``,n.sheenColorMapUv?`#define SHEEN_COLORMAP_UV `+n.sheenColorMapUv:``,n.sheenRoughnessMapUv?`#define SHEEN_ROUGHNESSMAP_UV `+n.sheenRoughnessMapUv:``,n.specularMapUv?`#define SPECULARMAP_UV `+n.specularMapUv:``,n.specularColorMapUv?`#define SPECULAR_COLORMAP_UV `+n.specularColorMapUv:``,n.specularIntensityMapUv?`#define SPECULAR_INTENSITYMAP_UV `+n.specularIntensityMapUv:``,n.transmissionMapUv?`#define TRANSMISSIONMAP_UV `+n.transmissionMapUv:``,n.thicknessMapUv?`#define THICKNESSMAP_UV `+n.thicknessMapUv:``,n.vertexTangents&&n.flatShading===!1?`#define USE_TANGENT`:``,n.vertexNormals?`#define HAS_NORMAL`:``,n.vertexColors?`#define USE_COLOR`:``,n.vertexAlphas?`#define USE_COLOR_ALPHA`:``,n.vertexUv1s?`#define USE_UV1`:``,n.vertexUv2s?`#define USE_UV2`:``,n.vertexUv3s?`#define USE_UV3`:``,n.pointsUvs?`#define USE_POINTS_UV`:``,n.flatShading?`#define FLAT_SHADED`:``,n.skinning?`#define USE_SKINNING`:``,n.morphTargets?`#define USE_MORPHTARGETS`:``,n.morphNormals&&n.flatShading===!1?`#define USE_MORPHNORMALS`:``,n.morphColors?`#define USE_MORPHCOLORS`:``,n.morphTargetsCount>0?`#define MORPHTARGETS_TEXTURE_STRIDE `+n.morphTextureStride:``,n.morphTargetsCount>0?`#define MORPHTARGETS_COUNT `+n.morphTargetsCount:``,n.doubleSided?`#define DOUBLE_SIDED`:``,n.flipSided?`#define FLIP_SIDED`:``,n.shadowMapEnabled?`#define USE_SHADOWMAP`:``,n.shadowMapEnabled?`#define `+c:``,n.sizeAttenuation?`#define USE_SIZEATTENUATION`:``,n.numLightProbes>0?`#define USE_LIGHT_PROBES`:``,n.logarithmicDepthBuffer?`#define USE_LOGARITHMIC_DEPTH_BUFFER`:``,n.reversedDepthBuffer?`#define USE_REVERSED_DEPTH_BUFFER`:``,`uniform mat4 modelMatrix;`,`uniform mat4 modelViewMatrix;`,`uniform mat4 projectionMatrix;`,`uniform mat4 viewMatrix;`,`uniform mat3 normalMatrix;`,`uniform vec3 cameraPosition;`,`uniform bool isOrthographic;`,`#ifdef USE_INSTANCING`,`	attribute mat4 instanceMatrix;`,`#endif`,`#ifdef USE_INSTANCING_COLOR`,`	attribute vec3 instanceColor;`,`#endif`,`#ifdef USE_INSTANCING_MORPH`,`	uniform sampler2D morphTexture;`,`#endif`,`attribute vec3 position;`,`attribute vec3 normal;`,`attribute vec2 uv;`,`#ifdef USE_UV1`,`	attribute vec2 uv1;`,`#endif`,`#ifdef USE_UV2`,`	attribute vec2 uv2;`,`#endif`,`#ifdef USE_UV3`,`	attribute vec2 uv3;`,`#endif`,`#ifdef USE_TANGENT`,`	attribute vec4 tangent;`,`#endif`,`#if defined( USE_COLOR_ALPHA )`,`	attribute vec4 color;`,`#elif defined( USE_COLOR )`,`	attribute vec3 color;`,`#endif`,`#ifdef USE_SKINNING`,`	attribute vec4 skinIndex;`,`	attribute vec4 skinWeight;`,`#endif`,`
`].filter(Q_).join(`
`),g=[sv(n),`#define SHADER_TYPE `+n.shaderType,`#define SHADER_NAME `+n.shaderName,p,n.useFog&&n.fog?`#define USE_FOG`:``,n.useFog&&n.fogExp2?`#define FOG_EXP2`:``,n.alphaToCoverage?`#define ALPHA_TO_COVERAGE`:``,n.map?`#define USE_MAP`:``,n.matcap?`#define USE_MATCAP`:``,n.envMap?`#define USE_ENVMAP`:``,n.envMap?`#define `+l:``,n.envMap?`#define `+u:``,n.envMap?`#define `+d:``,n.envMapPMREM?`#define ENVMAP_MAX_LOD `+n.envMapMaxLod+`.0`:``,n.envMapPMREM?`#define ENVMAP_SIZE `+n.envMapSize+`.0`:``,n.lightMap?`#define USE_LIGHTMAP`:``,n.aoMap?`#define USE_AOMAP`:``,n.bumpMap?`#define USE_BUMPMAP`:``,n.normalMap?`#define USE_NORMALMAP`:``,n.normalMapObjectSpace?`#define USE_NORMALMAP_OBJECTSPACE`:``,n.normalMapTangentSpace?`#define USE_NORMALMAP_TANGENTSPACE`:``,n.packedNormalMap?`#define USE_PACKED_NORMALMAP`:``,n.emissiveMap?`#define USE_EMISSIVEMAP`:``,n.anisotropy?`#define USE_ANISOTROPY`:``,n.anisotropyMap?`#define USE_ANISOTROPYMAP`:``,n.clearcoat?`#define USE_CLEARCOAT`:``,n.clearcoatMap?`#define USE_CLEARCOATMAP`:``,n.clearcoatRoughnessMap?`#define USE_CLEARCOAT_ROUGHNESSMAP`:``,n.clearcoatNormalMap?`#define USE_CLEARCOAT_NORMALMAP`:``,n.diffuseRoughness?`#define USE_DIFFUSE_ROUGHNESS`:``,n.diffuseRoughnessMap?`#define USE_DIFFUSE_ROUGHNESSMAP`:``,n.dispersion?`#define USE_DISPERSION`:``,n.retroreflection?`#define USE_RETROREFLECTION`:``,n.iridescence?`#define USE_IRIDESCENCE`:``,n.iridescenceMap?`#define USE_IRIDESCENCEMAP`:``,n.iridescenceThicknessMap?`#define USE_IRIDESCENCE_THICKNESSMAP`:``,n.specularMap?`#define USE_SPECULARMAP`:``,n.specularColorMap?`#define USE_SPECULAR_COLORMAP`:``,n.specularIntensityMap?`#define USE_SPECULAR_INTENSITYMAP`:``,n.roughnessMap?`#define USE_ROUGHNESSMAP`:``,n.metalnessMap?`#define USE_METALNESSMAP`:``,n.alphaMap?`#define USE_ALPHAMAP`:``,n.alphaTest?`#define USE_ALPHATEST`:``,n.alphaHash?`#define USE_ALPHAHASH`:``,n.sheen?`#define USE_SHEEN`:``,n.sheenColorMap?`#define USE_SHEEN_COLORMAP`:``,n.sheenRoughnessMap?`#define USE_SHEEN_ROUGHNESSMAP`:``,n.transmission?`#define USE_TRANSMISSION`:``,n.transmissionMap?`#define USE_TRANSMISSIONMAP`:``,n.thicknessMap?`#define USE_THICKNESSMAP`:``,n.vertexTangents&&n.flatShading===!1?`#define USE_TANGENT`:``,n.vertexColors||n.instancingColor?`#define USE_COLOR`:``,n.vertexAlphas||n.batchingColor?`#define USE_COLOR_ALPHA`:``,n.vertexUv1s?`#define USE_UV1`:``,n.vertexUv2s?`#define USE_UV2`:``,n.vertexUv3s?`#define USE_UV3`:``,n.pointsUvs?`#define USE_POINTS_UV`:``,n.gradientMap?`#define USE_GRADIENTMAP`:``,n.flatShading?`#define FLAT_SHADED`:``,n.doubleSided?`#define DOUBLE_SIDED`:``,n.flipSided?`#define FLIP_SIDED`:``,n.shadowMapEnabled?`#define USE_SHADOWMAP`:``,n.shadowMapEnabled?`#define `+c:``,n.premultipliedAlpha?`#define PREMULTIPLIED_ALPHA`:``,n.numLightProbes>0?`#define USE_LIGHT_PROBES`:``,n.decodeVideoTexture?`#define DECODE_VIDEO_TEXTURE`:``,n.decodeVideoTextureEmissive?`#define DECODE_VIDEO_TEXTURE_EMISSIVE`:``,n.logarithmicDepthBuffer?`#define USE_LOGARITHMIC_DEPTH_BUFFER`:``,n.reversedDepthBuffer?`#define USE_REVERSED_DEPTH_BUFFER`:``,`uniform mat4 viewMatrix;`,`uniform vec3 cameraPosition;`,`uniform bool isOrthographic;`,n.toneMapping===0?``:`#define TONE_MAPPING`,n.toneMapping===0?``:Q.tonemapping_pars_fragment,n.toneMapping===0?``:K_(`toneMapping`,n.toneMapping),n.dithering?`#define DITHERING`:``,n.opaque?`#define OPAQUE`:``,Q.colorspace_pars_fragment,W_(`linearToOutputTexel`,n.outputColorSpace),J_(),n.useDepthPacking?`#define DEPTH_PACKING `+n.depthPacking:``,`
`].filter(Q_).join(`
`)),o=nv(o),o=$_(o,n),o=ev(o,n),s=nv(s),s=$_(s,n),s=ev(s,n),o=av(o),s=av(s),n.isRawShaderMaterial!==!0&&(_=`#version 300 es
`,h=[f,`#define attribute in`,`#define varying out`,`#define texture2D texture`].join(`
`)+`
`+h,g=[`#define varying in`,n.glslVersion===`300 es`?``:`layout(location = 0) out highp vec4 pc_fragColor;`,n.glslVersion===`300 es`?``:`#define gl_FragColor pc_fragColor`,`#define gl_FragDepthEXT gl_FragDepth`,`#define texture2D texture`,`#define textureCube texture`,`#define texture2DProj textureProj`,`#define texture2DLodEXT textureLod`,`#define texture2DProjLodEXT textureProjLod`,`#define textureCubeLodEXT textureLod`,`#define texture2DGradEXT textureGrad`,`#define texture2DProjGradEXT textureProjGrad`,`#define textureCubeGradEXT textureGrad`].join(`
`)+`
`+g);let v=_+h+o,y=_+g+s,b=L_(i,i.VERTEX_SHADER,v),x=L_(i,i.FRAGMENT_SHADER,y);i.attachShader(m,b),i.attachShader(m,x),n.index0AttributeName===void 0?n.hasPositionAttribute===!0&&i.bindAttribLocation(m,0,`position`):i.bindAttribLocation(m,0,n.index0AttributeName),i.linkProgram(m);function S(t){if(e.debug.checkShaderErrors){let n=i.getProgramInfoLog(m)||``,r=i.getShaderInfoLog(b)||``,a=i.getShaderInfoLog(x)||``,o=n.trim(),s=r.trim(),c=a.trim(),l=!0,u=!0;if(i.getProgramParameter(m,i.LINK_STATUS)===!1){if(l=!1,typeof e.debug.onShaderError==`function`)e.debug.onShaderError(i,m,b,x);else{let e=U_(i,b,`vertex`),n=U_(i,x,`fragment`);K(`WebGLProgram: Shader Error `+i.getError()+` - VALIDATE_STATUS `+i.getProgramParameter(m,i.VALIDATE_STATUS)+`

Material Name: `+t.name+`
Material Type: `+t.type+`

Program Info Log: `+o+`
`+e+`
`+n)}}else o===``?(s===``||c===``)&&(u=!1):G(`WebGLProgram: Program Info Log:`,o);u&&(t.diagnostics={runnable:l,programLog:o,vertexShader:{log:s,prefix:h},fragmentShader:{log:c,prefix:g}})}i.deleteShader(b),i.deleteShader(x),C=new I_(i,m),w=Z_(i,m)}let C;this.getUniforms=function(){return C===void 0&&S(this),C};let w;this.getAttributes=function(){return w===void 0&&S(this),w};let T=n.rendererExtensionParallelShaderCompile===!1;return this.isReady=function(){return T===!1&&(T=i.getProgramParameter(m,R_)),T},this.destroy=function(){r.releaseStatesOfProgram(this),i.deleteProgram(m),this.program=void 0},this.type=n.shaderType,this.name=n.shaderName,this.id=z_++,this.cacheKey=t,this.usedTimes=1,this.program=m,this.vertexShader=b,this.fragmentShader=x,this}var hv=0,gv=class{constructor(){this.shaderCache=new Map,this.materialCache=new Map}update(e,t,n){let r=this._getShaderCacheForMaterial(e);return r.has(t)===!1&&(r.add(t),t.usedTimes++),r.has(n)===!1&&(r.add(n),n.usedTimes++),this}remove(e){let t=this.materialCache.get(e);for(let e of t)e.usedTimes--,e.usedTimes===0&&this.shaderCache.delete(e.code);return this.materialCache.delete(e),this}getVertexShaderStage(e){return this._getShaderStage(e.vertexShader)}getFragmentShaderStage(e){return this._getShaderStage(e.fragmentShader)}dispose(){this.shaderCache.clear(),this.materialCache.clear()}_getShaderCacheForMaterial(e){let t=this.materialCache,n=t.get(e);return n===void 0&&(n=new Set,t.set(e,n)),n}_getShaderStage(e){let t=this.shaderCache,n=t.get(e);return n===void 0&&(n=new _v(e),t.set(e,n)),n}},_v=class{constructor(e){this.id=hv++,this.code=e,this.usedTimes=0}};function vv(e){return e===1030||e===37490||e===36285}function yv(e,t,n,r,i,a){let o=new Cd,s=new gv,c=new Set,l=[],u=new Map,d=r.logarithmicDepthBuffer,f={MeshDepthMaterial:`depth`,MeshDistanceMaterial:`distance`,MeshNormalMaterial:`normal`,MeshBasicMaterial:`basic`,MeshLambertMaterial:`lambert`,MeshPhongMaterial:`phong`,MeshToonMaterial:`toon`,MeshStandardMaterial:`physical`,MeshPhysicalMaterial:`physical`,MeshMatcapMaterial:`matcap`,LineBasicMaterial:`basic`,LineDashedMaterial:`dashed`,PointsMaterial:`points`,ShadowMaterial:`shadow`,SpriteMaterial:`sprite`};function p(e){return c.add(e),e===0?`uv`:`uv${e}`}function m(i,o,l,u,m,h){let g=u.fog,_=m.geometry,v=i.isMeshStandardMaterial||i.isMeshLambertMaterial||i.isMeshPhongMaterial?u.environment:null,y=i.isMeshStandardMaterial||i.isMeshLambertMaterial&&!i.envMap||i.isMeshPhongMaterial&&!i.envMap,b=t.get(i.envMap||v,y),x=f[i.type],S=r.precision;i.precision!==null&&(S=r.getMaxPrecision(i.precision),S!==i.precision&&G(`WebGLProgram.getParameters:`,i.precision,`not supported, using`,S,`instead.`));let C=_.morphAttributes.position||_.morphAttributes.normal||_.morphAttributes.color,w=C===void 0?0:C.length,T=0;_.morphAttributes.position!==void 0&&(T=1),_.morphAttributes.normal!==void 0&&(T=2),_.morphAttributes.color!==void 0&&(T=3);let E,D,O,k;if(x){let e=qh[x];E=e.vertexShader,D=e.fragmentShader}else{E=i.vertexShader,D=i.fragmentShader;let e=s.getVertexShaderStage(i),t=s.getFragmentShaderStage(i);s.update(i,e,t),O=e.id,k=t.id}let A=e.getRenderTarget(),j=e.state.buffers.depth.getReversed(),ee=m.isInstancedMesh===!0,M=m.isBatchedMesh===!0,te=!!i.map,ne=!!i.matcap,re=!!b,ie=re&&b.isPMREMTexture===!0,ae=!!i.aoMap,oe=!!i.lightMap,se=!!i.bumpMap&&i.wireframe===!1,ce=!!i.normalMap,le=!!i.displacementMap,N=!!i.emissiveMap,ue=!!i.metalnessMap,de=!!i.roughnessMap,fe=i.anisotropy>0,pe=i.clearcoat>0,me=i.diffuseRoughness>0,he=i.dispersion>0,ge=i.retroreflectivity>0,_e=i.iridescence>0,ve=i.sheen>0,ye=i.transmission>0,be=fe&&!!i.anisotropyMap,xe=pe&&!!i.clearcoatMap,Se=pe&&!!i.clearcoatNormalMap,Ce=pe&&!!i.clearcoatRoughnessMap,we=me&&!!i.diffuseRoughnessMap,P=_e&&!!i.iridescenceMap,Te=_e&&!!i.iridescenceThicknessMap,Ee=ve&&!!i.sheenColorMap,De=ve&&!!i.sheenRoughnessMap,F=!!i.specularMap,I=!!i.specularColorMap,L=!!i.specularIntensityMap,R=ye&&!!i.transmissionMap,Oe=ye&&!!i.thicknessMap,ke=!!i.gradientMap,Ae=!!i.alphaMap,je=i.alphaTest>0,Me=!!i.alphaHash,Ne=!!i.extensions,z=0;i.toneMapped&&(A===null||A.isXRRenderTarget===!0)&&(z=e.toneMapping);let Pe=ie?b.isCompressedCubeTexture?b.image[0].mipmaps:b.mipmaps:null,Fe={shaderID:x,shaderType:i.type,shaderName:i.name,vertexShader:E,fragmentShader:D,defines:i.defines,customVertexShaderID:O,customFragmentShaderID:k,isRawShaderMaterial:i.isRawShaderMaterial===!0,glslVersion:i.glslVersion,precision:S,batching:M,batchingColor:M&&m._colorsTexture!==null,instancing:ee,instancingColor:ee&&m.instanceColor!==null,instancingMorph:ee&&m.morphTexture!==null,outputColorSpace:A===null?e.outputColorSpace:A.isXRRenderTarget===!0?A.texture.colorSpace:Xu.workingColorSpace,alphaToCoverage:!!i.alphaToCoverage,map:te,matcap:ne,envMap:re,envMapMode:re&&b.mapping,envMapPMREM:ie,envMapMaxLod:ie?Pe.length-1:null,envMapSize:ie?Pe[0].width:null,aoMap:ae,lightMap:oe,bumpMap:se,normalMap:ce,displacementMap:le,emissiveMap:N,normalMapObjectSpace:ce&&i.normalMapType===1,normalMapTangentSpace:ce&&i.normalMapType===0,packedNormalMap:ce&&i.normalMapType===0&&vv(i.normalMap.format),metalnessMap:ue,roughnessMap:de,anisotropy:fe,anisotropyMap:be,clearcoat:pe,clearcoatMap:xe,clearcoatNormalMap:Se,clearcoatRoughnessMap:Ce,diffuseRoughness:me,diffuseRoughnessMap:we,dispersion:he,retroreflection:ge,iridescence:_e,iridescenceMap:P,iridescenceThicknessMap:Te,sheen:ve,sheenColorMap:Ee,sheenRoughnessMap:De,specularMap:F,specularColorMap:I,specularIntensityMap:L,transmission:ye,transmissionMap:R,thicknessMap:Oe,gradientMap:ke,opaque:i.transparent===!1&&i.blending===1&&i.alphaToCoverage===!1,alphaMap:Ae,alphaTest:je,alphaHash:Me,combine:i.combine,mapUv:te&&p(i.map.channel),aoMapUv:ae&&p(i.aoMap.channel),lightMapUv:oe&&p(i.lightMap.channel),bumpMapUv:se&&p(i.bumpMap.channel),normalMapUv:ce&&p(i.normalMap.channel),displacementMapUv:le&&p(i.displacementMap.channel),emissiveMapUv:N&&p(i.emissiveMap.channel),metalnessMapUv:ue&&p(i.metalnessMap.channel),roughnessMapUv:de&&p(i.roughnessMap.channel),anisotropyMapUv:be&&p(i.anisotropyMap.channel),clearcoatMapUv:xe&&p(i.clearcoatMap.channel),clearcoatNormalMapUv:Se&&p(i.clearcoatNormalMap.channel),clearcoatRoughnessMapUv:Ce&&p(i.clearcoatRoughnessMap.channel),diffuseRoughnessMapUv:we&&p(i.diffuseRoughnessMap.channel),iridescenceMapUv:P&&p(i.iridescenceMap.channel),iridescenceThicknessMapUv:Te&&p(i.iridescenceThicknessMap.channel),sheenColorMapUv:Ee&&p(i.sheenColorMap.channel),sheenRoughnessMapUv:De&&p(i.sheenRoughnessMap.channel),specularMapUv:F&&p(i.specularMap.channel),specularColorMapUv:I&&p(i.specularColorMap.channel),specularIntensityMapUv:L&&p(i.specularIntensityMap.channel),transmissionMapUv:R&&p(i.transmissionMap.channel),thicknessMapUv:Oe&&p(i.thicknessMap.channel),alphaMapUv:Ae&&p(i.alphaMap.channel),vertexTangents:!!_.attributes.tangent&&(ce||fe),vertexNormals:!!_.attributes.normal,vertexColors:i.vertexColors,vertexAlphas:i.vertexColors===!0&&!!_.attributes.color&&_.attributes.color.itemSize===4,pointsUvs:m.isPoints===!0&&!!_.attributes.uv&&(te||Ae),fog:!!g,useFog:i.fog===!0,fogExp2:!!g&&g.isFogExp2,flatShading:i.wireframe===!1&&(i.flatShading===!0||_.attributes.normal===void 0&&ce===!1&&(i.isMeshLambertMaterial||i.isMeshPhongMaterial||i.isMeshStandardMaterial||i.isMeshPhysicalMaterial)),sizeAttenuation:i.sizeAttenuation===!0,logarithmicDepthBuffer:d,reversedDepthBuffer:j,skinning:m.isSkinnedMesh===!0,hasPositionAttribute:_.attributes.position!==void 0,morphTargets:_.morphAttributes.position!==void 0,morphNormals:_.morphAttributes.normal!==void 0,morphColors:_.morphAttributes.color!==void 0,morphTargetsCount:w,morphTextureStride:T,numSunLights:o.sun.length,numDirLights:o.directional.length,numPointLights:o.point.length,numSpotLights:o.spot.length,numSpotLightMaps:o.spotLightMap.length,numRectAreaLights:o.rectArea.length,numHemiLights:o.hemi.length,numSunLightShadows:o.sunShadowMap.length,numDirLightShadows:o.directionalShadowMap.length,numPointLightShadows:o.pointShadowMap.length,numSpotLightShadows:o.spotShadowMap.length,numSpotLightShadowsWithMaps:o.numSpotLightShadowsWithMaps,numLightProbes:o.numLightProbes,numLightProbeGrids:h.filter(e=>e.texture!==null).length,numClippingPlanes:a.numPlanes,numClipIntersection:a.numIntersection,dithering:i.dithering,shadowMapEnabled:e.shadowMap.enabled&&l.length>0,shadowMapType:e.shadowMap.type,toneMapping:z,decodeVideoTexture:te&&i.map.isVideoTexture===!0&&Xu.getTransfer(i.map.colorSpace)===`srgb`,decodeVideoTextureEmissive:N&&i.emissiveMap.isVideoTexture===!0&&Xu.getTransfer(i.emissiveMap.colorSpace)===`srgb`,premultipliedAlpha:i.premultipliedAlpha,doubleSided:i.side===2,flipSided:i.side===1,useDepthPacking:i.depthPacking>=0,depthPacking:i.depthPacking||0,index0AttributeName:i.index0AttributeName,extensionClipCullDistance:Ne&&i.extensions.clipCullDistance===!0&&n.has(`WEBGL_clip_cull_distance`),extensionMultiDraw:(Ne&&i.extensions.multiDraw===!0||M)&&n.has(`WEBGL_multi_draw`),rendererExtensionParallelShaderCompile:n.has(`KHR_parallel_shader_compile`),customProgramCacheKey:i.customProgramCacheKey()};return Fe.vertexUv1s=c.has(1),Fe.vertexUv2s=c.has(2),Fe.vertexUv3s=c.has(3),c.clear(),Fe}function h(t){let n=[];if(t.shaderID?n.push(t.shaderID):(n.push(t.customVertexShaderID),n.push(t.customFragmentShaderID)),t.defines!==void 0)for(let e in t.defines)n.push(e),n.push(t.defines[e]);return t.isRawShaderMaterial===!1&&(g(n,t),_(n,t),n.push(e.outputColorSpace)),n.push(t.customProgramCacheKey),n.join()}function g(e,t){e.push(t.precision),e.push(t.outputColorSpace),e.push(t.envMapMode),e.push(t.envMapPMREM),e.push(t.envMapMaxLod),e.push(t.envMapSize),e.push(t.mapUv),e.push(t.alphaMapUv),e.push(t.lightMapUv),e.push(t.aoMapUv),e.push(t.bumpMapUv),e.push(t.normalMapUv),e.push(t.displacementMapUv),e.push(t.emissiveMapUv),e.push(t.metalnessMapUv),e.push(t.roughnessMapUv),e.push(t.anisotropyMapUv),e.push(t.clearcoatMapUv),e.push(t.clearcoatNormalMapUv),e.push(t.clearcoatRoughnessMapUv),e.push(t.diffuseRoughnessMapUv),e.push(t.iridescenceMapUv),e.push(t.iridescenceThicknessMapUv),e.push(t.sheenColorMapUv),e.push(t.sheenRoughnessMapUv),e.push(t.specularMapUv),e.push(t.specularColorMapUv),e.push(t.specularIntensityMapUv),e.push(t.transmissionMapUv),e.push(t.thicknessMapUv),e.push(t.combine),e.push(t.fogExp2),e.push(t.sizeAttenuation),e.push(t.morphTargetsCount),e.push(t.numSunLights),e.push(t.numDirLights),e.push(t.numPointLights),e.push(t.numSpotLights),e.push(t.numSpotLightMaps),e.push(t.numHemiLights),e.push(t.numRectAreaLights),e.push(t.numSunLightShadows),e.push(t.numDirLightShadows),e.push(t.numPointLightShadows),e.push(t.numSpotLightShadows),e.push(t.numSpotLightShadowsWithMaps),e.push(t.numLightProbes),e.push(t.numLightProbeGrids),e.push(t.shadowMapType),e.push(t.toneMapping),e.push(t.numClippingPlanes),e.push(t.numClipIntersection),e.push(t.depthPacking)}function _(e,t){o.disableAll(),t.instancing&&o.enable(0),t.instancingColor&&o.enable(1),t.instancingMorph&&o.enable(2),t.matcap&&o.enable(3),t.envMap&&o.enable(4),t.normalMapObjectSpace&&o.enable(5),t.normalMapTangentSpace&&o.enable(6),t.clearcoat&&o.enable(7),t.iridescence&&o.enable(8),t.alphaTest&&o.enable(9),t.vertexColors&&o.enable(10),t.vertexAlphas&&o.enable(11),t.vertexUv1s&&o.enable(12),t.vertexUv2s&&o.enable(13),t.vertexUv3s&&o.enable(14),t.vertexTangents&&o.enable(15),t.anisotropy&&o.enable(16),t.alphaHash&&o.enable(17),t.batching&&o.enable(18),t.dispersion&&o.enable(19),t.retroreflection&&o.enable(24),t.diffuseRoughness&&o.enable(25),t.batchingColor&&o.enable(20),t.gradientMap&&o.enable(21),t.packedNormalMap&&o.enable(22),t.vertexNormals&&o.enable(23),e.push(o.mask),o.disableAll(),t.fog&&o.enable(0),t.useFog&&o.enable(1),t.flatShading&&o.enable(2),t.logarithmicDepthBuffer&&o.enable(3),t.reversedDepthBuffer&&o.enable(4),t.skinning&&o.enable(5),t.morphTargets&&o.enable(6),t.morphNormals&&o.enable(7),t.morphColors&&o.enable(8),t.premultipliedAlpha&&o.enable(9),t.shadowMapEnabled&&o.enable(10),t.doubleSided&&o.enable(11),t.flipSided&&o.enable(12),t.useDepthPacking&&o.enable(13),t.dithering&&o.enable(14),t.transmission&&o.enable(15),t.sheen&&o.enable(16),t.opaque&&o.enable(17),t.pointsUvs&&o.enable(18),t.decodeVideoTexture&&o.enable(19),t.decodeVideoTextureEmissive&&o.enable(20),t.alphaToCoverage&&o.enable(21),t.numLightProbeGrids>0&&o.enable(22),t.hasPositionAttribute&&o.enable(23),e.push(o.mask)}function v(e){let t=f[e.type],n;if(t){let e=qh[t];n=ym.clone(e.uniforms)}else n=e.uniforms;return n}function y(t,n){let r=u.get(n);return r===void 0?(r=new mv(e,n,t,i),l.push(r),u.set(n,r)):++r.usedTimes,r}function b(e){if(--e.usedTimes===0){let t=l.indexOf(e);l[t]=l[l.length-1],l.pop(),u.delete(e.cacheKey),e.destroy()}}function x(e){s.remove(e)}function S(){s.dispose()}return{getParameters:m,getProgramCacheKey:h,getUniforms:v,acquireProgram:y,releaseProgram:b,releaseShaderCache:x,programs:l,dispose:S}}function bv(){let e=new WeakMap;function t(t){return e.has(t)}function n(t){let n=e.get(t);return n===void 0&&(n={},e.set(t,n)),n}function r(t){e.delete(t)}function i(t,n,r){e.get(t)[n]=r}function a(){e=new WeakMap}return{has:t,get:n,remove:r,update:i,dispose:a}}function xv(e,t){return e.groupOrder===t.groupOrder?e.renderOrder===t.renderOrder?e.material.id===t.material.id?e.materialVariant===t.materialVariant?e.z===t.z?e.id-t.id:e.z-t.z:e.materialVariant-t.materialVariant:e.material.id-t.material.id:e.renderOrder-t.renderOrder:e.groupOrder-t.groupOrder}function Sv(e,t){return e.groupOrder===t.groupOrder?e.renderOrder===t.renderOrder?e.z===t.z?e.id-t.id:t.z-e.z:e.renderOrder-t.renderOrder:e.groupOrder-t.groupOrder}function Cv(){let e=[],t=0,n=[],r=[],i=[];function a(){t=0,n.length=0,r.length=0,i.length=0}function o(e){let t=0;return e.isInstancedMesh&&(t+=2),e.isSkinnedMesh&&(t+=1),t}function s(n,r,i,a,s,c){let l=e[t];return l===void 0?(l={id:n.id,object:n,geometry:r,material:i,materialVariant:o(n),groupOrder:a,renderOrder:n.renderOrder,z:s,group:c},e[t]=l):(l.id=n.id,l.object=n,l.geometry=r,l.material=i,l.materialVariant=o(n),l.groupOrder=a,l.renderOrder=n.renderOrder,l.z=s,l.group=c),t++,l}function c(e,t,a,o,c,l,u){u.reversedDepth===!0&&(c=-c);let d=s(e,t,a,o,c,l);a.transmission>0?r.push(d):a.transparent===!0?i.push(d):n.push(d)}function l(e,t,a,o,c,l){let u=s(e,t,a,o,c,l);a.transmission>0?r.unshift(u):a.transparent===!0?i.unshift(u):n.unshift(u)}function u(e,t){n.length>1&&n.sort(e||xv),r.length>1&&r.sort(t||Sv),i.length>1&&i.sort(t||Sv)}function d(){for(let n=t,r=e.length;n<r;n++){let t=e[n];if(t.id===null)break;t.id=null,t.object=null,t.geometry=null,t.material=null,t.group=null}}return{opaque:n,transmissive:r,transparent:i,init:a,push:c,unshift:l,finish:d,sort:u}}function wv(){let e=new WeakMap;function t(t,n){let r=e.get(t),i;return r===void 0?(i=new Cv,e.set(t,[i])):n>=r.length?(i=new Cv,r.push(i)):i=r[n],i}function n(){e=new WeakMap}return{get:t,dispose:n}}function Tv(){let e={};return{get:function(t){if(e[t.id]!==void 0)return e[t.id];let n;switch(t.type){case`SunLight`:case`DirectionalLight`:n={direction:new Y,color:new Z};break;case`SpotLight`:n={position:new Y,direction:new Y,color:new Z,distance:0,coneCos:0,penumbraCos:0,decay:0};break;case`PointLight`:n={position:new Y,color:new Z,distance:0,decay:0};break;case`HemisphereLight`:n={direction:new Y,skyColor:new Z,groundColor:new Z};break;case`RectAreaLight`:n={color:new Z,position:new Y,halfWidth:new Y,halfHeight:new Y}}return e[t.id]=n,n}}}function Ev(){let e={};return{get:function(t){if(e[t.id]!==void 0)return e[t.id];let n;switch(t.type){case`SunLight`:case`DirectionalLight`:n={shadowIntensity:1,shadowBias:0,shadowNormalBias:0,shadowRadius:1,shadowMapSize:new J};break;case`SpotLight`:n={shadowIntensity:1,shadowBias:0,shadowNormalBias:0,shadowRadius:1,shadowMapSize:new J};break;case`PointLight`:n={shadowIntensity:1,shadowBias:0,shadowNormalBias:0,shadowRadius:1,shadowMapSize:new J,shadowCameraNear:1,shadowCameraFar:1e3}}return e[t.id]=n,n}}}var Dv=0;function Ov(e,t){return(t.castShadow?2:0)-(e.castShadow?2:0)+ +!!t.map-!!e.map}function kv(e){let t=new Tv,n=Ev(),r={version:0,hash:{sunLength:-1,directionalLength:-1,pointLength:-1,spotLength:-1,rectAreaLength:-1,hemiLength:-1,numSunShadows:-1,numDirectionalShadows:-1,numPointShadows:-1,numSpotShadows:-1,numSpotMaps:-1,numLightProbes:-1},ambient:[0,0,0],probe:[],sun:[],sunShadow:[],sunShadowMap:[],sunShadowMatrix:[],sunShadowCascade:[],directional:[],directionalShadow:[],directionalShadowMap:[],directionalShadowMatrix:[],spot:[],spotLightMap:[],spotShadow:[],spotShadowMap:[],spotLightMatrix:[],rectArea:[],rectAreaLTC1:null,rectAreaLTC2:null,point:[],pointShadow:[],pointShadowMap:[],pointShadowMatrix:[],hemi:[],numSpotLightShadowsWithMaps:0,numLightProbes:0};for(let e=0;e<9;e++)r.probe.push(new Y);let i=new Y,a=new fd,o=new fd;function s(i){let a=0,o=0,s=0;for(let e=0;e<9;e++)r.probe[e].set(0,0,0);let c=0,l=0,u=0,d=0,f=0,p=0,m=0,h=0,g=0,_=0,v=0,y=0,b=0,x=0;i.sort(Ov);for(let e=0,S=i.length;e<S;e++){let S=i[e],C=S.color,w=S.intensity,T=S.distance,E=null;if(S.shadow&&S.shadow.map&&(E=S.shadow.map.texture.format===1030?S.shadow.map.texture:S.shadow.map.depthTexture||S.shadow.map.texture),S.isAmbientLight)a+=C.r*w,o+=C.g*w,s+=C.b*w;else if(S.isLightProbe){for(let e=0;e<9;e++)r.probe[e].addScaledVector(S.sh.coefficients[e],w);x++}else if(S.isSunLight){let e=t.get(S);if(e.color.copy(S.color).multiplyScalar(S.intensity),S.castShadow){let e=S.shadow,t=n.get(S);t.shadowIntensity=e.intensity,t.shadowBias=e.bias,t.shadowNormalBias=e.normalBias,t.shadowRadius=e.radius,t.shadowMapSize.copy(e.mapSize).multiply(e.getFrameExtents()),r.sunShadow[l]=t,r.sunShadowMap[l]=E;let i=e.getViewportCount();for(let t=0;t<i;t++)r.sunShadowMatrix[u+t]=e.getMatrix(t),r.sunShadowCascade[u+t]=e._cascadeData[t];u+=i,l++}r.sun[c]=e,c++}else if(S.isDirectionalLight){let e=t.get(S);if(e.color.copy(S.color).multiplyScalar(S.intensity),S.castShadow){let e=S.shadow,t=n.get(S);t.shadowIntensity=e.intensity,t.shadowBias=e.bias,t.shadowNormalBias=e.normalBias,t.shadowRadius=e.radius,t.shadowMapSize=e.mapSize,r.directionalShadow[d]=t,r.directionalShadowMap[d]=E,r.directionalShadowMatrix[d]=S.shadow.matrix,g++}r.directional[d]=e,d++}else if(S.isSpotLight){let e=t.get(S);e.position.setFromMatrixPosition(S.matrixWorld),e.color.copy(C).multiplyScalar(w),e.distance=T,e.coneCos=Math.cos(S.angle),e.penumbraCos=Math.cos(S.angle*(1-S.penumbra)),e.decay=S.decay,r.spot[p]=e;let i=S.shadow;if(S.map&&(r.spotLightMap[y]=S.map,y++,i.updateMatrices(S),S.castShadow&&b++),r.spotLightMatrix[p]=i.matrix,S.castShadow){let e=n.get(S);e.shadowIntensity=i.intensity,e.shadowBias=i.bias,e.shadowNormalBias=i.normalBias,e.shadowRadius=i.radius,e.shadowMapSize=i.mapSize,r.spotShadow[p]=e,r.spotShadowMap[p]=E,v++}p++}else if(S.isRectAreaLight){let e=t.get(S);e.color.copy(C).multiplyScalar(w),e.halfWidth.set(S.width*.5,0,0),e.halfHeight.set(0,S.height*.5,0),r.rectArea[m]=e,m++}else if(S.isPointLight){let e=t.get(S);if(e.color.copy(S.color).multiplyScalar(S.intensity),e.distance=S.distance,e.decay=S.decay,S.castShadow){let e=S.shadow,t=n.get(S);t.shadowIntensity=e.intensity,t.shadowBias=e.bias,t.shadowNormalBias=e.normalBias,t.shadowRadius=e.radius,t.shadowMapSize=e.mapSize,t.shadowCameraNear=e.camera.near,t.shadowCameraFar=e.camera.far,r.pointShadow[f]=t,r.pointShadowMap[f]=E,r.pointShadowMatrix[f]=S.shadow.matrix,_++}r.point[f]=e,f++}else if(S.isHemisphereLight){let e=t.get(S);e.skyColor.copy(S.color).multiplyScalar(w),e.groundColor.copy(S.groundColor).multiplyScalar(w),r.hemi[h]=e,h++}}m>0&&(e.has(`OES_texture_float_linear`)===!0?(r.rectAreaLTC1=$.LTC_FLOAT_1,r.rectAreaLTC2=$.LTC_FLOAT_2):(r.rectAreaLTC1=$.LTC_HALF_1,r.rectAreaLTC2=$.LTC_HALF_2)),r.ambient[0]=a,r.ambient[1]=o,r.ambient[2]=s;let S=r.hash;(S.sunLength!==c||S.directionalLength!==d||S.pointLength!==f||S.spotLength!==p||S.rectAreaLength!==m||S.hemiLength!==h||S.numSunShadows!==l||S.numDirectionalShadows!==g||S.numPointShadows!==_||S.numSpotShadows!==v||S.numSpotMaps!==y||S.numLightProbes!==x)&&(r.sun.length=c,r.directional.length=d,r.spot.length=p,r.rectArea.length=m,r.point.length=f,r.hemi.length=h,r.sunShadow.length=l,r.sunShadowMap.length=l,r.sunShadowMatrix.length=u,r.sunShadowCascade.length=u,r.directionalShadow.length=g,r.directionalShadowMap.length=g,r.directionalShadowMatrix.length=g,r.pointShadow.length=_,r.pointShadowMap.length=_,r.pointShadowMatrix.length=_,r.spotShadow.length=v,r.spotShadowMap.length=v,r.spotLightMatrix.length=v+y-b,r.spotLightMap.length=y,r.numSpotLightShadowsWithMaps=b,r.numLightProbes=x,S.sunLength=c,S.directionalLength=d,S.pointLength=f,S.spotLength=p,S.rectAreaLength=m,S.hemiLength=h,S.numSunShadows=l,S.numDirectionalShadows=g,S.numPointShadows=_,S.numSpotShadows=v,S.numSpotMaps=y,S.numLightProbes=x,r.version=Dv++)}function c(e,t){let n=0,s=0,c=0,l=0,u=0,d=0,f=t.matrixWorldInverse;for(let t=0,p=e.length;t<p;t++){let p=e[t];if(p.isSunLight){let e=r.sun[n];e.direction.setFromMatrixPosition(p.matrixWorld),e.direction.transformDirection(f),n++}else if(p.isDirectionalLight){let e=r.directional[s];e.direction.setFromMatrixPosition(p.matrixWorld),i.setFromMatrixPosition(p.target.matrixWorld),e.direction.sub(i),e.direction.transformDirection(f),s++}else if(p.isSpotLight){let e=r.spot[l];e.position.setFromMatrixPosition(p.matrixWorld),e.position.applyMatrix4(f),e.direction.setFromMatrixPosition(p.matrixWorld),i.setFromMatrixPosition(p.target.matrixWorld),e.direction.sub(i),e.direction.transformDirection(f),l++}else if(p.isRectAreaLight){let e=r.rectArea[u];e.position.setFromMatrixPosition(p.matrixWorld),e.position.applyMatrix4(f),o.identity(),a.copy(p.matrixWorld),a.premultiply(f),o.extractRotation(a),e.halfWidth.set(p.width*.5,0,0),e.halfHeight.set(0,p.height*.5,0),e.halfWidth.applyMatrix4(o),e.halfHeight.applyMatrix4(o),u++}else if(p.isPointLight){let e=r.point[c];e.position.setFromMatrixPosition(p.matrixWorld),e.position.applyMatrix4(f),c++}else if(p.isHemisphereLight){let e=r.hemi[d];e.direction.setFromMatrixPosition(p.matrixWorld),e.direction.transformDirection(f),d++}}}return{setup:s,setupView:c,state:r}}function Av(e){let t=new kv(e),n=[],r=[],i=[];function a(e){u.camera=e,n.length=0,r.length=0,i.length=0}function o(e){e.isLightProbeGrid?i.push(e):n.push(e)}function s(e){r.push(e)}function c(){t.setup(n),i.sort((e,t)=>e.priority-t.priority||e.id-t.id)}function l(e){t.setupView(n,e)}let u={lightsArray:n,shadowsArray:r,lightProbeGridArray:i,camera:null,lights:t,transmissionRenderTarget:{},textureUnits:0};return{init:a,state:u,setupLights:c,setupLightsView:l,pushLight:o,pushShadow:s}}function jv(e){let t=new WeakMap;function n(n,r=0){let i=t.get(n),a;return i===void 0?(a=new Av(e),t.set(n,[a])):r>=i.length?(a=new Av(e),i.push(a)):a=i[r],a}function r(){t=new WeakMap}return{get:n,dispose:r}}var Mv=`void main() {
	gl_Position = vec4( position, 1.0 );
}`,Nv=`uniform sampler2D shadow_pass;
uniform vec2 resolution;
uniform float radius;
void main() {
	const float samples = float( VSM_SAMPLES );
	float mean = 0.0;
	float squared_mean = 0.0;
	float uvStride = samples <= 1.0 ? 0.0 : 2.0 / ( samples - 1.0 );
	float uvStart = samples <= 1.0 ? 0.0 : - 1.0;
	for ( float i = 0.0; i < samples; i ++ ) {
		float uvOffset = uvStart + i * uvStride;
		#ifdef HORIZONTAL_PASS
			vec2 distribution = texture2D( shadow_pass, ( gl_FragCoord.xy + vec2( uvOffset, 0.0 ) * radius ) / resolution ).rg;
			mean += distribution.x;
			squared_mean += distribution.y * distribution.y + distribution.x * distribution.x;
		#else
			float depth = texture2D( shadow_pass, ( gl_FragCoord.xy + vec2( 0.0, uvOffset ) * radius ) / resolution ).r;
			mean += depth;
			squared_mean += depth * depth;
		#endif
	}
	mean = mean / samples;
	squared_mean = squared_mean / samples;
	float std_dev = sqrt( max( 0.0, squared_mean - mean * mean ) );
	gl_FragColor = vec4( mean, std_dev, 0.0, 1.0 );
}`,Pv=[new Y(1,0,0),new Y(-1,0,0),new Y(0,1,0),new Y(0,-1,0),new Y(0,0,1),new Y(0,0,-1)],Fv=[new Y(0,-1,0),new Y(0,-1,0),new Y(0,0,1),new Y(0,0,-1),new Y(0,-1,0),new Y(0,-1,0)],Iv=new fd,Lv=new Y,Rv=new Y;function zv(e,t,n){let r=new Np,i=new J,a=new J,o=new sd,s=new Tm,c=new Em,l={},u=n.maxTextureSize,d={0:1,1:0,2:2},f=new Sm({defines:{VSM_SAMPLES:8},uniforms:{shadow_pass:{value:null},resolution:{value:new J},radius:{value:4}},vertexShader:Mv,fragmentShader:Nv}),p=f.clone();p.defines.HORIZONTAL_PASS=1;let m=new Uf;m.setAttribute(`position`,new Of(new Float32Array([-1,-1,.5,3,-1,.5,-1,3,.5]),3));let h=new _p(m,f),g=this;this.enabled=!1,this.autoUpdate=!0,this.needsUpdate=!1,this.type=1;let _=this.type;this.render=function(t,n,s){if(g.enabled===!1||g.autoUpdate===!1&&g.needsUpdate===!1||t.length===0)return;this.type===2&&(G(`WebGLShadowMap: PCFSoftShadowMap has been removed. Using PCFShadowMap instead.`),this.type=1);let c=e.getRenderTarget(),l=e.getActiveCubeFace(),d=e.getActiveMipmapLevel(),f=e.state;f.setBlending(0),f.buffers.depth.getReversed()===!0?f.buffers.color.setClear(0,0,0,0):f.buffers.color.setClear(1,1,1,1),f.buffers.depth.setTest(!0),f.setScissorTest(!1);let p=_!==this.type;p&&n.traverse(function(e){e.material&&(Array.isArray(e.material)?e.material.forEach(e=>e.needsUpdate=!0):e.material.needsUpdate=!0)});for(let c=0,l=t.length;c<l;c++){let l=t[c],d=l.shadow;if(d===void 0){G(`WebGLShadowMap:`,l,`has no shadow.`);continue}if(d.autoUpdate===!1&&d.needsUpdate===!1)continue;i.copy(d.mapSize);let m=d.getFrameExtents();i.multiply(m),a.copy(d.mapSize),(i.x>u||i.y>u)&&(i.x>u&&(a.x=Math.floor(u/m.x),i.x=a.x*m.x,d.mapSize.x=a.x),i.y>u&&(a.y=Math.floor(u/m.y),i.y=a.y*m.y,d.mapSize.y=a.y));let h=e.state.buffers.depth.getReversed();if(d.camera._reversedDepth=h,d.map===null||p===!0){if(d.map!==null&&(d.map.depthTexture!==null&&(d.map.depthTexture.dispose(),d.map.depthTexture=null),d.map.dispose()),this.type===3){if(l.isPointLight){G(`WebGLShadowMap: VSM shadow maps are not supported for PointLights. Use PCF or BasicShadowMap instead.`);continue}d.map=new ld(i.x,i.y,{format:al,type:Kc,minFilter:Ic,magFilter:Ic,generateMipmaps:!1}),d.map.texture.name=l.name+`.shadowMap`,d.map.depthTexture=new Xp(i.x,i.y,Gc),d.map.depthTexture.name=l.name+`.shadowMapDepth`,d.map.depthTexture.format=tl,d.map.depthTexture.compareFunction=null,d.map.depthTexture.minFilter=Nc,d.map.depthTexture.magFilter=Nc}else l.isPointLight?(d.map=new ng(i.x),d.map.depthTexture=new Zp(i.x,Wc)):(d.map=new ld(i.x,i.y),d.map.depthTexture=new Xp(i.x,i.y,Wc)),d.map.depthTexture.name=l.name+`.shadowMap`,d.map.depthTexture.format=tl,this.type===1?(d.map.depthTexture.compareFunction=h?518:515,d.map.depthTexture.minFilter=Ic,d.map.depthTexture.magFilter=Ic):(d.map.depthTexture.compareFunction=null,d.map.depthTexture.minFilter=Nc,d.map.depthTexture.magFilter=Nc);d.camera.updateProjectionMatrix()}d.map.isWebGLCubeRenderTarget!==!0&&(d.map.width!==i.x||d.map.height!==i.y)&&d.map.setSize(i.x,i.y);let g=d.map.isWebGLCubeRenderTarget?6:d.getViewportCount();l.isPointLight!==!0&&d.updateMatrices(l,s);let _=d.camera.layers.mask&4294967294?d.camera.layers:s.layers;for(let t=0;t<g;t++){let i=d.getCamera(t);if(l.isPointLight){let e=d.camera,n=d.matrix,r=l.distance||e.far;r!==e.far&&(e.far=r,e.updateProjectionMatrix()),Lv.setFromMatrixPosition(l.matrixWorld),e.position.copy(Lv),Rv.copy(e.position),Rv.add(Pv[t]),e.up.copy(Fv[t]),e.lookAt(Rv),e.updateMatrixWorld(),n.makeTranslation(-Lv.x,-Lv.y,-Lv.z),Iv.multiplyMatrices(e.projectionMatrix,e.matrixWorldInverse),d._frustum.setFromProjectionMatrix(Iv,e.coordinateSystem,e.reversedDepth)}if(d.map.isWebGLCubeRenderTarget)e.setRenderTarget(d.map,t),e.clear();else{t===0&&(e.setRenderTarget(d.map),e.clear());let n=d.getViewport(t);o.set(a.x*n.x,a.y*n.y,a.x*n.z,a.y*n.w),f.viewport(o)}r=d.getFrustum(t),b(n,s,i,l,_,this.type)}d.isPointLightShadow!==!0&&this.type===3&&v(d,s),d.needsUpdate=!1}_=this.type,g.needsUpdate=!1,e.setRenderTarget(c,l,d)};function v(n,r){let a=t.update(h);f.defines.VSM_SAMPLES!==n.blurSamples&&(f.defines.VSM_SAMPLES=n.blurSamples,p.defines.VSM_SAMPLES=n.blurSamples,f.needsUpdate=!0,p.needsUpdate=!0),n.mapPass===null?n.mapPass=new ld(i.x,i.y,{format:al,type:Kc}):(n.mapPass.width!==n.map.width||n.mapPass.height!==n.map.height)&&n.mapPass.setSize(n.map.width,n.map.height),f.uniforms.shadow_pass.value=n.map.depthTexture,f.uniforms.resolution.value.set(n.map.width,n.map.height),f.uniforms.radius.value=n.radius,e.setRenderTarget(n.mapPass),e.clear(),e.renderBufferDirect(r,null,a,f,h,null),p.uniforms.shadow_pass.value=n.mapPass.texture,p.uniforms.resolution.value.set(n.map.width,n.map.height),p.uniforms.radius.value=n.radius,e.setRenderTarget(n.map),e.clear(),e.renderBufferDirect(r,null,a,p,h,null)}function y(t,n,r,i){let a=null,o=r.isPointLight===!0?t.customDistanceMaterial:t.customDepthMaterial;if(o!==void 0)a=o;else if(a=r.isPointLight===!0?c:s,e.localClippingEnabled&&n.clipShadows===!0&&Array.isArray(n.clippingPlanes)&&n.clippingPlanes.length!==0||n.displacementMap&&n.displacementScale!==0||n.alphaMap&&n.alphaTest>0||n.map&&n.alphaTest>0||n.alphaToCoverage===!0){let e=a.uuid,t=n.uuid,r=l[e];r===void 0&&(r={},l[e]=r);let i=r[t];i===void 0&&(i=a.clone(),r[t]=i,n.addEventListener(`dispose`,x)),a=i}if(a.visible=n.visible,a.wireframe=n.wireframe,i===3?a.side=n.shadowSide===null?n.side:n.shadowSide:a.side=n.shadowSide===null?d[n.side]:n.shadowSide,a.alphaMap=n.alphaMap,a.alphaTest=n.alphaToCoverage===!0?.5:n.alphaTest,a.map=n.map,a.clipShadows=n.clipShadows,a.clippingPlanes=n.clippingPlanes,a.clipIntersection=n.clipIntersection,a.displacementMap=n.displacementMap,a.displacementScale=n.displacementScale,a.displacementBias=n.displacementBias,a.wireframeLinewidth=n.wireframeLinewidth,a.linewidth=n.linewidth,r.isPointLight===!0&&a.isMeshDistanceMaterial===!0){let t=e.properties.get(a);t.light=r}return a}function b(n,i,a,o,s,c){if(n.visible===!1)return;if(n.layers.test(s)&&(n.isMesh||n.isLine||n.isPoints)&&(n.castShadow||n.receiveShadow&&c===3)&&(!n.frustumCulled||n.intersectsFrustum(r))){n.modelViewMatrix.multiplyMatrices(a.matrixWorldInverse,n.matrixWorld);let r=t.update(n),s=n.material;if(Array.isArray(s)){let t=r.groups;for(let l=0,u=t.length;l<u;l++){let u=t[l],d=s[u.materialIndex];if(d&&d.visible){let t=y(n,d,o,c);n.onBeforeShadow(e,n,i,a,r,t,u),e.renderBufferDirect(a,null,r,t,n,u),n.onAfterShadow(e,n,i,a,r,t,u)}}}else if(s.visible){let t=y(n,s,o,c);n.onBeforeShadow(e,n,i,a,r,t,null),e.renderBufferDirect(a,null,r,t,n,null),n.onAfterShadow(e,n,i,a,r,t,null)}}let l=n.children;for(let e=0,t=l.length;e<t;e++)b(l[e],i,a,o,s,c)}function x(e){e.target.removeEventListener(`dispose`,x);for(let t in l){let n=l[t],r=e.target.uuid;r in n&&(n[r].dispose(),delete n[r])}}}function Bv(e,t){function n(){let t=!1,n=new sd,r=null,i=new sd(0,0,0,0);return{setMask:function(n){r!==n&&!t&&(e.colorMask(n,n,n,n),r=n)},setLocked:function(e){t=e},setClear:function(t,r,a,o,s){s===!0&&(t*=o,r*=o,a*=o),n.set(t,r,a,o),i.equals(n)===!1&&(e.clearColor(t,r,a,o),i.copy(n))},reset:function(){t=!1,r=null,i.set(-1,0,0,0)}}}function r(){let n=!1,r=!1,i=null,a=null,o=null;return{setReversed:function(e){if(r!==e){let n=t.get(`EXT_clip_control`);e?n.clipControlEXT(n.LOWER_LEFT_EXT,n.ZERO_TO_ONE_EXT):n.clipControlEXT(n.LOWER_LEFT_EXT,n.NEGATIVE_ONE_TO_ONE_EXT),r=e;let i=o;o=null,this.setClear(i)}},getReversed:function(){return r},setTest:function(t){t?ue(e.DEPTH_TEST):de(e.DEPTH_TEST)},setMask:function(t){i!==t&&!n&&(e.depthMask(t),i=t)},setFunc:function(t){if(r&&(t=mu[t]),a!==t){switch(t){case 0:e.depthFunc(e.NEVER);break;case 1:e.depthFunc(e.ALWAYS);break;case 2:e.depthFunc(e.LESS);break;case 3:e.depthFunc(e.LEQUAL);break;case 4:e.depthFunc(e.EQUAL);break;case 5:e.depthFunc(e.GEQUAL);break;case 6:e.depthFunc(e.GREATER);break;case 7:e.depthFunc(e.NOTEQUAL);break;default:e.depthFunc(e.LEQUAL)}a=t}},setLocked:function(e){n=e},setClear:function(t){o!==t&&(o=t,r&&(t=1-t),e.clearDepth(t))},reset:function(){n=!1,i=null,a=null,o=null,r=!1}}}function i(){let t=!1,n=null,r=null,i=null,a=null,o=null,s=null,c=null,l=null;return{setTest:function(n){t||(n?ue(e.STENCIL_TEST):de(e.STENCIL_TEST))},setMask:function(r){n!==r&&!t&&(e.stencilMask(r),n=r)},setFunc:function(t,n,o){(r!==t||i!==n||a!==o)&&(e.stencilFunc(t,n,o),r=t,i=n,a=o)},setOp:function(t,n,r){(o!==t||s!==n||c!==r)&&(e.stencilOp(t,n,r),o=t,s=n,c=r)},setLocked:function(e){t=e},setClear:function(t){l!==t&&(e.clearStencil(t),l=t)},reset:function(){t=!1,n=null,r=null,i=null,a=null,o=null,s=null,c=null,l=null}}}let a=new n,o=new r,s=new i,c={},l=new WeakMap,u={},d={},f={},p=new WeakMap,m=[],h=null,g=!1,_=null,v=null,y=null,b=null,x=null,S=null,C=null,w=new Z(0,0,0),T=0,E=!1,D=null,O=null,k=null,A=null,j=null,ee=e.getParameter(e.MAX_COMBINED_TEXTURE_IMAGE_UNITS),M=!1,te=0,ne=e.getParameter(e.VERSION);ne.indexOf(`WebGL`)===-1?ne.indexOf(`OpenGL ES`)!==-1&&(te=parseFloat(/^OpenGL ES (\d)/.exec(ne)[1]),M=te>=2):(te=parseFloat(/^WebGL (\d)/.exec(ne)[1]),M=te>=1);let re=null,ie={},ae=e.getParameter(e.SCISSOR_BOX),oe=e.getParameter(e.VIEWPORT),se=new sd().fromArray(ae),ce=new sd().fromArray(oe);function le(t,n,r,i){let a=new Uint8Array(4),o=e.createTexture();e.bindTexture(t,o),e.texParameteri(t,e.TEXTURE_MIN_FILTER,e.NEAREST),e.texParameteri(t,e.TEXTURE_MAG_FILTER,e.NEAREST);for(let o=0;o<r;o++)t===e.TEXTURE_3D||t===e.TEXTURE_2D_ARRAY?e.texImage3D(n,0,e.RGBA,1,1,i,0,e.RGBA,e.UNSIGNED_BYTE,a):e.texImage2D(n+o,0,e.RGBA,1,1,0,e.RGBA,e.UNSIGNED_BYTE,a);return o}let N={};N[e.TEXTURE_2D]=le(e.TEXTURE_2D,e.TEXTURE_2D,1),N[e.TEXTURE_CUBE_MAP]=le(e.TEXTURE_CUBE_MAP,e.TEXTURE_CUBE_MAP_POSITIVE_X,6),N[e.TEXTURE_2D_ARRAY]=le(e.TEXTURE_2D_ARRAY,e.TEXTURE_2D_ARRAY,1,1),N[e.TEXTURE_3D]=le(e.TEXTURE_3D,e.TEXTURE_3D,1,1),a.setClear(0,0,0,1),o.setClear(1),s.setClear(0),ue(e.DEPTH_TEST),o.setFunc(3),ye(!1),be(1),ue(e.CULL_FACE),_e(0);function ue(t){u[t]!==!0&&(e.enable(t),u[t]=!0)}function de(t){u[t]!==!1&&(e.disable(t),u[t]=!1)}function fe(t,n){return f[t]!==n&&(e.bindFramebuffer(t,n),f[t]=n,t===e.DRAW_FRAMEBUFFER&&(f[e.FRAMEBUFFER]=n),t===e.FRAMEBUFFER&&(f[e.DRAW_FRAMEBUFFER]=n),!0)}function pe(t,n){let r=m,i=!1;if(t){r=p.get(n),r===void 0&&(r=[],p.set(n,r));let a=t.textures;if(r.length!==a.length||r[0]!==e.COLOR_ATTACHMENT0){for(let t=0,n=a.length;t<n;t++)r[t]=e.COLOR_ATTACHMENT0+t;r.length=a.length,i=!0}}else r[0]!==e.BACK&&(r[0]=e.BACK,i=!0);i&&e.drawBuffers(r)}function me(t){return h!==t&&(e.useProgram(t),h=t,!0)}let he={100:e.FUNC_ADD,101:e.FUNC_SUBTRACT,102:e.FUNC_REVERSE_SUBTRACT};he[103]=e.MIN,he[104]=e.MAX;let ge={200:e.ZERO,201:e.ONE,202:e.SRC_COLOR,204:e.SRC_ALPHA,210:e.SRC_ALPHA_SATURATE,208:e.DST_COLOR,206:e.DST_ALPHA,203:e.ONE_MINUS_SRC_COLOR,205:e.ONE_MINUS_SRC_ALPHA,209:e.ONE_MINUS_DST_COLOR,207:e.ONE_MINUS_DST_ALPHA,211:e.CONSTANT_COLOR,212:e.ONE_MINUS_CONSTANT_COLOR,213:e.CONSTANT_ALPHA,214:e.ONE_MINUS_CONSTANT_ALPHA};function _e(t,n,r,i,a,o,s,c,l,u){if(t===0)g===!0&&(de(e.BLEND),g=!1);else if(g===!1&&(ue(e.BLEND),g=!0),t!==5){if(t!==_||u!==E){if((v!==100||x!==100)&&(e.blendEquation(e.FUNC_ADD),v=100,x=100),u)switch(t){case 1:e.blendFuncSeparate(e.ONE,e.ONE_MINUS_SRC_ALPHA,e.ONE,e.ONE_MINUS_SRC_ALPHA);break;case 2:e.blendFunc(e.ONE,e.ONE);break;case 3:e.blendFuncSeparate(e.ZERO,e.ONE_MINUS_SRC_COLOR,e.ZERO,e.ONE);break;case 4:e.blendFuncSeparate(e.DST_COLOR,e.ONE_MINUS_SRC_ALPHA,e.ZERO,e.ONE);break;default:K(`WebGLState: Invalid blending: `,t)}else switch(t){case 1:e.blendFuncSeparate(e.SRC_ALPHA,e.ONE_MINUS_SRC_ALPHA,e.ONE,e.ONE_MINUS_SRC_ALPHA);break;case 2:e.blendFuncSeparate(e.SRC_ALPHA,e.ONE,e.ONE,e.ONE);break;case 3:K(`WebGLState: SubtractiveBlending requires material.premultipliedAlpha = true`);break;case 4:K(`WebGLState: MultiplyBlending requires material.premultipliedAlpha = true`);break;default:K(`WebGLState: Invalid blending: `,t)}y=null,b=null,S=null,C=null,w.set(0,0,0),T=0,_=t,E=u}}else a||=n,o||=r,s||=i,(n!==v||a!==x)&&(e.blendEquationSeparate(he[n],he[a]),v=n,x=a),(r!==y||i!==b||o!==S||s!==C)&&(e.blendFuncSeparate(ge[r],ge[i],ge[o],ge[s]),y=r,b=i,S=o,C=s),(c.equals(w)===!1||l!==T)&&(e.blendColor(c.r,c.g,c.b,l),w.copy(c),T=l),_=t,E=!1}function ve(t,n){t.side===2?de(e.CULL_FACE):ue(e.CULL_FACE);let r=t.side===1;n&&(r=!r),ye(r),t.blending===1&&t.transparent===!1?_e(0):_e(t.blending,t.blendEquation,t.blendSrc,t.blendDst,t.blendEquationAlpha,t.blendSrcAlpha,t.blendDstAlpha,t.blendColor,t.blendAlpha,t.premultipliedAlpha),o.setFunc(t.depthFunc),o.setTest(t.depthTest),o.setMask(t.depthWrite),a.setMask(t.colorWrite);let i=t.stencilWrite;s.setTest(i),i&&(s.setMask(t.stencilWriteMask),s.setFunc(t.stencilFunc,t.stencilRef,t.stencilFuncMask),s.setOp(t.stencilFail,t.stencilZFail,t.stencilZPass)),Se(t.polygonOffset,t.polygonOffsetFactor,t.polygonOffsetUnits),t.alphaToCoverage===!0?ue(e.SAMPLE_ALPHA_TO_COVERAGE):de(e.SAMPLE_ALPHA_TO_COVERAGE)}function ye(t){D!==t&&(t?e.frontFace(e.CW):e.frontFace(e.CCW),D=t)}function be(t){t===0?de(e.CULL_FACE):(ue(e.CULL_FACE),t!==O&&(t===1?e.cullFace(e.BACK):t===2?e.cullFace(e.FRONT):e.cullFace(e.FRONT_AND_BACK))),O=t}function xe(t){t!==k&&(M&&e.lineWidth(t),k=t)}function Se(t,n,r){t?(ue(e.POLYGON_OFFSET_FILL),(A!==n||j!==r)&&(A=n,j=r,o.getReversed()&&(n=-n,r=-r),e.polygonOffset(n,r))):de(e.POLYGON_OFFSET_FILL)}function Ce(t){t?ue(e.SCISSOR_TEST):de(e.SCISSOR_TEST)}function we(t){t===void 0&&(t=e.TEXTURE0+ee-1),re!==t&&(e.activeTexture(t),re=t)}function P(t,n,r){r===void 0&&(r=re===null?e.TEXTURE0+ee-1:re);let i=ie[r];i===void 0&&(i={type:void 0,texture:void 0},ie[r]=i),(i.type!==t||i.texture!==n)&&(re!==r&&(e.activeTexture(r),re=r),e.bindTexture(t,n||N[t]),i.type=t,i.texture=n)}function Te(){let t=ie[re];t!==void 0&&t.type!==void 0&&(e.bindTexture(t.type,null),t.type=void 0,t.texture=void 0)}function Ee(){try{e.compressedTexImage2D(...arguments)}catch(e){K(`WebGLState:`,e)}}function De(){try{e.compressedTexImage3D(...arguments)}catch(e){K(`WebGLState:`,e)}}function F(){try{e.texSubImage2D(...arguments)}catch(e){K(`WebGLState:`,e)}}function I(){try{e.texSubImage3D(...arguments)}catch(e){K(`WebGLState:`,e)}}function L(){try{e.compressedTexSubImage2D(...arguments)}catch(e){K(`WebGLState:`,e)}}function R(){try{e.compressedTexSubImage3D(...arguments)}catch(e){K(`WebGLState:`,e)}}function Oe(){try{e.texStorage2D(...arguments)}catch(e){K(`WebGLState:`,e)}}function ke(){try{e.texStorage3D(...arguments)}catch(e){K(`WebGLState:`,e)}}function Ae(){try{e.texImage2D(...arguments)}catch(e){K(`WebGLState:`,e)}}function je(){try{e.texImage3D(...arguments)}catch(e){K(`WebGLState:`,e)}}function Me(t){return d[t]===void 0?e.getParameter(t):d[t]}function Ne(t,n){d[t]!==n&&(e.pixelStorei(t,n),d[t]=n)}function z(t){se.equals(t)===!1&&(e.scissor(t.x,t.y,t.z,t.w),se.copy(t))}function Pe(t){ce.equals(t)===!1&&(e.viewport(t.x,t.y,t.z,t.w),ce.copy(t))}function Fe(t,n){let r=l.get(n);r===void 0&&(r=new WeakMap,l.set(n,r));let i=r.get(t);i===void 0&&(i=e.getUniformBlockIndex(n,t.name),e.uniformBlockBinding(n,i,i),r.set(t,i))}function Ie(t,n,r){let i=l.get(n).get(t);c[i]!==r&&(e.bindBufferBase(e.UNIFORM_BUFFER,i,r),c[i]=r)}function Le(){e.disable(e.BLEND),e.disable(e.CULL_FACE),e.disable(e.DEPTH_TEST),e.disable(e.POLYGON_OFFSET_FILL),e.disable(e.SCISSOR_TEST),e.disable(e.STENCIL_TEST),e.disable(e.SAMPLE_ALPHA_TO_COVERAGE),e.blendEquation(e.FUNC_ADD),e.blendFunc(e.ONE,e.ZERO),e.blendFuncSeparate(e.ONE,e.ZERO,e.ONE,e.ZERO),e.blendColor(0,0,0,0),e.colorMask(!0,!0,!0,!0),e.clearColor(0,0,0,0),e.depthMask(!0),e.depthFunc(e.LESS),o.setReversed(!1),e.clearDepth(1),e.stencilMask(4294967295),e.stencilFunc(e.ALWAYS,0,4294967295),e.stencilOp(e.KEEP,e.KEEP,e.KEEP),e.clearStencil(0),e.cullFace(e.BACK),e.frontFace(e.CCW),e.polygonOffset(0,0),e.activeTexture(e.TEXTURE0),e.bindFramebuffer(e.FRAMEBUFFER,null),e.bindFramebuffer(e.DRAW_FRAMEBUFFER,null),e.bindFramebuffer(e.READ_FRAMEBUFFER,null),e.useProgram(null),e.lineWidth(1),e.scissor(0,0,e.canvas.width,e.canvas.height),e.viewport(0,0,e.canvas.width,e.canvas.height),e.pixelStorei(e.PACK_ALIGNMENT,4),e.pixelStorei(e.UNPACK_ALIGNMENT,4),e.pixelStorei(e.UNPACK_FLIP_Y_WEBGL,!1),e.pixelStorei(e.UNPACK_PREMULTIPLY_ALPHA_WEBGL,!1),e.pixelStorei(e.UNPACK_COLORSPACE_CONVERSION_WEBGL,e.BROWSER_DEFAULT_WEBGL),e.pixelStorei(e.PACK_ROW_LENGTH,0),e.pixelStorei(e.PACK_SKIP_PIXELS,0),e.pixelStorei(e.PACK_SKIP_ROWS,0),e.pixelStorei(e.UNPACK_ROW_LENGTH,0),e.pixelStorei(e.UNPACK_IMAGE_HEIGHT,0),e.pixelStorei(e.UNPACK_SKIP_PIXELS,0),e.pixelStorei(e.UNPACK_SKIP_ROWS,0),e.pixelStorei(e.UNPACK_SKIP_IMAGES,0),u={},d={},re=null,ie={},f={},c={},p=new WeakMap,m=[],h=null,g=!1,_=null,v=null,y=null,b=null,x=null,S=null,C=null,w=new Z(0,0,0),T=0,E=!1,D=null,O=null,k=null,A=null,j=null,se.set(0,0,e.canvas.width,e.canvas.height),ce.set(0,0,e.canvas.width,e.canvas.height),a.reset(),o.reset(),s.reset()}return{buffers:{color:a,depth:o,stencil:s},enable:ue,disable:de,bindFramebuffer:fe,drawBuffers:pe,useProgram:me,setBlending:_e,setMaterial:ve,setFlipSided:ye,setCullFace:be,setLineWidth:xe,setPolygonOffset:Se,setScissorTest:Ce,activeTexture:we,bindTexture:P,unbindTexture:Te,compressedTexImage2D:Ee,compressedTexImage3D:De,texImage2D:Ae,texImage3D:je,pixelStorei:Ne,getParameter:Me,updateUBOMapping:Fe,uniformBlockBinding:Ie,texStorage2D:Oe,texStorage3D:ke,texSubImage2D:F,texSubImage3D:I,compressedTexSubImage2D:L,compressedTexSubImage3D:R,scissor:z,viewport:Pe,reset:Le}}function Vv(e,t,n,r,i,a,o){let s=t.has(`WEBGL_multisampled_render_to_texture`)?t.get(`WEBGL_multisampled_render_to_texture`):null,c=typeof navigator>`u`?!1:/OculusBrowser/g.test(navigator.userAgent),l=new J,u=new WeakMap,d=new Set,f,p=new WeakMap,m=new Set,h=new FinalizationRegistry(e=>m.delete(e)),g=!1;try{g=typeof OffscreenCanvas<`u`&&new OffscreenCanvas(1,1).getContext(`2d`)!==null}catch{}function _(e,t){return g?new OffscreenCanvas(e,t):su(`canvas`)}function v(e,t,n){let r=1,i=Oe(e);if((i.width>n||i.height>n)&&(r=n/Math.max(i.width,i.height)),r<1){if(typeof HTMLImageElement<`u`&&e instanceof HTMLImageElement||typeof HTMLCanvasElement<`u`&&e instanceof HTMLCanvasElement||typeof ImageBitmap<`u`&&e instanceof ImageBitmap||typeof VideoFrame<`u`&&e instanceof VideoFrame){let n=Math.floor(r*i.width),a=Math.floor(r*i.height);f===void 0&&(f=_(n,a));let o=t?_(n,a):f;return o.width=n,o.height=a,o.getContext(`2d`).drawImage(e,0,0,n,a),G(`WebGLRenderer: Texture has been resized from (`+i.width+`x`+i.height+`) to (`+n+`x`+a+`).`),o}return`data`in e&&G(`WebGLRenderer: Image in DataTexture is too big (`+i.width+`x`+i.height+`).`),e}return e}function y(e){return e.generateMipmaps}function b(t){e.generateMipmap(t)}function x(t){return t.isWebGLCubeRenderTarget?e.TEXTURE_CUBE_MAP:t.isWebGL3DRenderTarget?e.TEXTURE_3D:t.isWebGLArrayRenderTarget||t.isCompressedArrayTexture?e.TEXTURE_2D_ARRAY:e.TEXTURE_2D}function S(n,r,i,a,o,s=!1){if(n!==null){if(e[n]!==void 0)return e[n];G(`WebGLRenderer: Attempt to use non-existing WebGL internal format '`+n+`'`)}let c;a&&(c=t.get(`EXT_texture_norm16`),c||G(`WebGLRenderer: Unable to use normalized textures without EXT_texture_norm16 extension`));let l=r;if(r===e.RED&&(i===e.FLOAT&&(l=e.R32F),i===e.HALF_FLOAT&&(l=e.R16F),i===e.UNSIGNED_BYTE&&(l=e.R8),i===e.UNSIGNED_SHORT&&c&&(l=c.R16_EXT),i===e.SHORT&&c&&(l=c.R16_SNORM_EXT)),r===e.RED_INTEGER&&(i===e.UNSIGNED_BYTE&&(l=e.R8UI),i===e.UNSIGNED_SHORT&&(l=e.R16UI),i===e.UNSIGNED_INT&&(l=e.R32UI),i===e.BYTE&&(l=e.R8I),i===e.SHORT&&(l=e.R16I),i===e.INT&&(l=e.R32I)),r===e.RG&&(i===e.FLOAT&&(l=e.RG32F),i===e.HALF_FLOAT&&(l=e.RG16F),i===e.UNSIGNED_BYTE&&(l=e.RG8),i===e.UNSIGNED_SHORT&&c&&(l=c.RG16_EXT),i===e.SHORT&&c&&(l=c.RG16_SNORM_EXT)),r===e.RG_INTEGER&&(i===e.UNSIGNED_BYTE&&(l=e.RG8UI),i===e.UNSIGNED_SHORT&&(l=e.RG16UI),i===e.UNSIGNED_INT&&(l=e.RG32UI),i===e.BYTE&&(l=e.RG8I),i===e.SHORT&&(l=e.RG16I),i===e.INT&&(l=e.RG32I)),r===e.RGB_INTEGER&&(i===e.UNSIGNED_BYTE&&(l=e.RGB8UI),i===e.UNSIGNED_SHORT&&(l=e.RGB16UI),i===e.UNSIGNED_INT&&(l=e.RGB32UI),i===e.BYTE&&(l=e.RGB8I),i===e.SHORT&&(l=e.RGB16I),i===e.INT&&(l=e.RGB32I)),r===e.RGBA_INTEGER&&(i===e.UNSIGNED_BYTE&&(l=e.RGBA8UI),i===e.UNSIGNED_SHORT&&(l=e.RGBA16UI),i===e.UNSIGNED_INT&&(l=e.RGBA32UI),i===e.BYTE&&(l=e.RGBA8I),i===e.SHORT&&(l=e.RGBA16I),i===e.INT&&(l=e.RGBA32I)),r===e.RGB&&(i===e.UNSIGNED_SHORT&&c&&(l=c.RGB16_EXT),i===e.SHORT&&c&&(l=c.RGB16_SNORM_EXT),i===e.UNSIGNED_INT_5_9_9_9_REV&&(l=e.RGB9_E5),i===e.UNSIGNED_INT_10F_11F_11F_REV&&(l=e.R11F_G11F_B10F)),r===e.RGBA){let t=s?eu:Xu.getTransfer(o);i===e.FLOAT&&(l=e.RGBA32F),i===e.HALF_FLOAT&&(l=e.RGBA16F),i===e.UNSIGNED_BYTE&&(l=t===`srgb`?e.SRGB8_ALPHA8:e.RGBA8),i===e.UNSIGNED_SHORT&&c&&(l=c.RGBA16_EXT),i===e.SHORT&&c&&(l=c.RGBA16_SNORM_EXT),i===e.UNSIGNED_SHORT_4_4_4_4&&(l=e.RGBA4),i===e.UNSIGNED_SHORT_5_5_5_1&&(l=e.RGB5_A1)}return(l===e.R16F||l===e.R32F||l===e.RG16F||l===e.RG32F||l===e.RGBA16F||l===e.RGBA32F)&&t.get(`EXT_color_buffer_float`),l}function C(t,n){let r;return t?n===null||n===1014||n===1020?r=e.DEPTH24_STENCIL8:n===1015?r=e.DEPTH32F_STENCIL8:n===1012&&(r=e.DEPTH24_STENCIL8,G(`DepthTexture: 16 bit depth attachment is not supported with stencil. Using 24-bit attachment.`)):n===null||n===1014||n===1020?r=e.DEPTH_COMPONENT24:n===1015?r=e.DEPTH_COMPONENT32F:n===1012&&(r=e.DEPTH_COMPONENT16),r}function w(e,t){return y(e)===!0||e.isFramebufferTexture&&e.minFilter!==1003&&e.minFilter!==1006?Math.log2(Math.max(t.width,t.height))+1:e.mipmaps.length>0?e.mipmaps.length:e.isCompressedTexture&&Array.isArray(e.image)?t.mipmaps.length:1}function T(e){let t=new WeakRef(e);r.get(e).__ref=t,m.add(t),h.register(e,t,t)}function E(e){let t=r.get(e).__ref;t!==void 0&&(m.delete(t),h.unregister(t))}function D(e){k(e.target)}function O(e){A(e.target)}function k(e){e.removeEventListener(`dispose`,D),E(e),ee(e),e.isVideoTexture&&u.delete(e),e.isHTMLTexture&&d.delete(e)}function A(e){e.removeEventListener(`dispose`,O),E(e),te(e)}function j(){for(let e of m){let t=e.deref();t!==void 0&&(t.isRenderTarget===!0?A(t):k(t))}m.clear(),d.clear()}function ee(e){let t=r.get(e);if(t.__webglInit===void 0)return;let n=e.source,i=p.get(n);if(i){let r=i[t.__cacheKey];r.usedTimes--,r.usedTimes===0&&M(e),Object.keys(i).length===0&&p.delete(n)}r.remove(e)}function M(t){let n=r.get(t);e.deleteTexture(n.__webglTexture);let i=t.source,a=p.get(i);delete a[n.__cacheKey],o.memory.textures--}function te(t){let n=r.get(t);n.__depthDisposeCallback&&n.__depthDisposeCallback();let i=t.depthTexture;if(i&&i.renderTarget===t&&k(i),t.isWebGLCubeRenderTarget)for(let t=0;t<6;t++){if(Array.isArray(n.__webglFramebuffer[t]))for(let r=0;r<n.__webglFramebuffer[t].length;r++)e.deleteFramebuffer(n.__webglFramebuffer[t][r]);else e.deleteFramebuffer(n.__webglFramebuffer[t]);n.__webglDepthbuffer&&e.deleteRenderbuffer(n.__webglDepthbuffer[t])}else{if(Array.isArray(n.__webglFramebuffer))for(let t=0;t<n.__webglFramebuffer.length;t++)e.deleteFramebuffer(n.__webglFramebuffer[t]);else e.deleteFramebuffer(n.__webglFramebuffer);if(n.__webglDepthbuffer&&e.deleteRenderbuffer(n.__webglDepthbuffer),n.__webglMultisampledFramebuffer&&e.deleteFramebuffer(n.__webglMultisampledFramebuffer),n.__webglColorRenderbuffer)for(let t=0;t<n.__webglColorRenderbuffer.length;t++)n.__webglColorRenderbuffer[t]&&e.deleteRenderbuffer(n.__webglColorRenderbuffer[t]);n.__webglDepthRenderbuffer&&e.deleteRenderbuffer(n.__webglDepthRenderbuffer)}let a=t.textures;for(let t=0,n=a.length;t<n;t++){let n=r.get(a[t]);n.__webglTexture&&(e.deleteTexture(n.__webglTexture),o.memory.textures--),r.remove(a[t])}r.remove(t)}let ne=0;function re(){ne=0}function ie(){return ne}function ae(e){ne=e}function oe(){let e=ne;return e>=i.maxTextures&&G(`WebGLTextures: Trying to use `+(e+1)+` texture units while this GPU supports only `+i.maxTextures),ne+=1,e}function se(e){let t=[];return t.push(e.wrapS),t.push(e.wrapT),t.push(e.wrapR||0),t.push(e.magFilter),t.push(e.minFilter),t.push(e.anisotropy),t.push(e.internalFormat),t.push(e.format),t.push(e.type),t.push(e.generateMipmaps),t.push(e.mipmapsAutoUpdate),t.push(e.premultiplyAlpha),t.push(e.flipY),t.push(e.unpackAlignment),t.push(e.colorSpace),t.join()}function ce(t,i){let a=r.get(t);if(t.isVideoTexture&&L(t),t.isRenderTargetTexture===!1&&t.isExternalTexture!==!0&&t.version>0&&a.__version!==t.version){let e=t.image;if(e===null)G(`WebGLRenderer: Texture marked for update but no image data found.`);else if(e.complete===!1)G(`WebGLRenderer: Texture marked for update but image is incomplete`);else{ve(a,t,i);return}}else t.isExternalTexture&&(a.__webglTexture=t.sourceTexture?t.sourceTexture:null);n.bindTexture(e.TEXTURE_2D,a.__webglTexture,e.TEXTURE0+i)}function le(t,i){let a=r.get(t);t.isRenderTargetTexture===!1&&t.version>0&&a.__version!==t.version?ve(a,t,i):(t.isExternalTexture&&(a.__webglTexture=t.sourceTexture?t.sourceTexture:null),n.bindTexture(e.TEXTURE_2D_ARRAY,a.__webglTexture,e.TEXTURE0+i))}function N(t,i){let a=r.get(t);t.isRenderTargetTexture===!1&&t.version>0&&a.__version!==t.version?ve(a,t,i):n.bindTexture(e.TEXTURE_3D,a.__webglTexture,e.TEXTURE0+i)}function ue(t,i){let a=r.get(t);t.version>0&&a.__version!==t.version?ye(a,t,i):n.bindTexture(e.TEXTURE_CUBE_MAP,a.__webglTexture,e.TEXTURE0+i)}let de={[Ac]:e.REPEAT,[jc]:e.CLAMP_TO_EDGE,[Mc]:e.MIRRORED_REPEAT},fe={[Nc]:e.NEAREST,[Pc]:e.NEAREST_MIPMAP_NEAREST,[Fc]:e.NEAREST_MIPMAP_LINEAR,[Ic]:e.LINEAR,[Lc]:e.LINEAR_MIPMAP_NEAREST,[Rc]:e.LINEAR_MIPMAP_LINEAR},pe={512:e.NEVER,519:e.ALWAYS,513:e.LESS,515:e.LEQUAL,514:e.EQUAL,518:e.GEQUAL,516:e.GREATER,517:e.NOTEQUAL};function me(n,a){if(a.type===1015&&t.has(`OES_texture_float_linear`)===!1&&(a.magFilter===1006||a.magFilter===1007||a.magFilter===1005||a.magFilter===1008||a.minFilter===1006||a.minFilter===1007||a.minFilter===1005||a.minFilter===1008)&&G(`WebGLRenderer: Unable to use linear filtering with floating point textures. OES_texture_float_linear not supported on this device.`),e.texParameteri(n,e.TEXTURE_WRAP_S,de[a.wrapS]),e.texParameteri(n,e.TEXTURE_WRAP_T,de[a.wrapT]),(n===e.TEXTURE_3D||n===e.TEXTURE_2D_ARRAY)&&e.texParameteri(n,e.TEXTURE_WRAP_R,de[a.wrapR]),e.texParameteri(n,e.TEXTURE_MAG_FILTER,fe[a.magFilter]),e.texParameteri(n,e.TEXTURE_MIN_FILTER,fe[a.minFilter]),a.compareFunction&&(e.texParameteri(n,e.TEXTURE_COMPARE_MODE,e.COMPARE_REF_TO_TEXTURE),e.texParameteri(n,e.TEXTURE_COMPARE_FUNC,pe[a.compareFunction])),t.has(`EXT_texture_filter_anisotropic`)===!0){if(a.magFilter===1003||a.minFilter!==1005&&a.minFilter!==1008||a.type===1015&&t.has(`OES_texture_float_linear`)===!1)return;if(a.anisotropy>1||r.get(a).__currentAnisotropy){let o=t.get(`EXT_texture_filter_anisotropic`);e.texParameterf(n,o.TEXTURE_MAX_ANISOTROPY_EXT,Math.min(a.anisotropy,i.getMaxAnisotropy())),r.get(a).__currentAnisotropy=a.anisotropy}}}function he(t,n){let r=!1;t.__webglInit===void 0&&(t.__webglInit=!0,n.addEventListener(`dispose`,D),T(n));let i=n.source,a=p.get(i);a===void 0&&(a={},p.set(i,a));let s=se(n);if(s!==t.__cacheKey){a[s]===void 0&&(a[s]={texture:e.createTexture(),usedTimes:0},o.memory.textures++,r=!0),a[s].usedTimes++;let i=a[t.__cacheKey];i!==void 0&&(a[t.__cacheKey].usedTimes--,i.usedTimes===0&&M(n)),t.__cacheKey=s,t.__webglTexture=a[s].texture}return r}function ge(e,t,n){return Math.floor(Math.floor(e/n)/t)}function _e(t,r,i,a){let o=t.updateRanges;if(o.length===0)n.texSubImage2D(e.TEXTURE_2D,0,0,0,r.width,r.height,i,a,r.data);else{o.sort((e,t)=>e.start-t.start);let s=0;for(let e=1;e<o.length;e++){let t=o[s],n=o[e],i=t.start+t.count,a=ge(n.start,r.width,4),c=ge(t.start,r.width,4);n.start<=i+1&&a===c&&ge(n.start+n.count-1,r.width,4)===a?t.count=Math.max(t.count,n.start+n.count-t.start):(++s,o[s]=n)}o.length=s+1;let c=n.getParameter(e.UNPACK_ROW_LENGTH),l=n.getParameter(e.UNPACK_SKIP_PIXELS),u=n.getParameter(e.UNPACK_SKIP_ROWS);n.pixelStorei(e.UNPACK_ROW_LENGTH,r.width);for(let t=0,s=o.length;t<s;t++){let s=o[t],c=Math.floor(s.start/4),l=Math.ceil(s.count/4),u=c%r.width,d=Math.floor(c/r.width),f=l;n.pixelStorei(e.UNPACK_SKIP_PIXELS,u),n.pixelStorei(e.UNPACK_SKIP_ROWS,d),n.texSubImage2D(e.TEXTURE_2D,0,u,d,f,1,i,a,r.data)}t.clearUpdateRanges(),n.pixelStorei(e.UNPACK_ROW_LENGTH,c),n.pixelStorei(e.UNPACK_SKIP_PIXELS,l),n.pixelStorei(e.UNPACK_SKIP_ROWS,u)}}function ve(t,o,s){let c=e.TEXTURE_2D;(o.isDataArrayTexture||o.isCompressedArrayTexture)&&(c=e.TEXTURE_2D_ARRAY),o.isData3DTexture&&(c=e.TEXTURE_3D);let l=he(t,o),u=o.source;n.bindTexture(c,t.__webglTexture,e.TEXTURE0+s);let f=r.get(u);if(u.version!==f.__version||l===!0){if(n.activeTexture(e.TEXTURE0+s),!(typeof ImageBitmap<`u`&&o.image instanceof ImageBitmap)){let t=Xu.getPrimaries(Xu.workingColorSpace),r=o.colorSpace===``?null:Xu.getPrimaries(o.colorSpace),i=o.colorSpace===``||t===r?e.NONE:e.BROWSER_DEFAULT_WEBGL;n.pixelStorei(e.UNPACK_FLIP_Y_WEBGL,o.flipY),n.pixelStorei(e.UNPACK_PREMULTIPLY_ALPHA_WEBGL,o.premultiplyAlpha),n.pixelStorei(e.UNPACK_COLORSPACE_CONVERSION_WEBGL,i)}n.pixelStorei(e.UNPACK_ALIGNMENT,o.unpackAlignment);let t=v(o.image,!1,i.maxTextureSize);t=R(o,t);let r=a.convert(o.format,o.colorSpace),p=a.convert(o.type),m=S(o.internalFormat,r,p,o.normalized,o.colorSpace,o.isVideoTexture);me(c,o);let h,g=o.mipmaps,_=o.isVideoTexture!==!0,x=f.__version===void 0||l===!0,T=u.dataReady,E=w(o,t);if(o.isDepthTexture)m=C(o.format===nl,o.type),x&&(_?n.texStorage2D(e.TEXTURE_2D,1,m,t.width,t.height):n.texImage2D(e.TEXTURE_2D,0,m,t.width,t.height,0,r,p,null));else if(o.isDataTexture){if(g.length>0){_&&x&&n.texStorage2D(e.TEXTURE_2D,E,m,g[0].width,g[0].height);for(let t=0,i=g.length;t<i;t++)h=g[t],_?T&&n.texSubImage2D(e.TEXTURE_2D,t,0,0,h.width,h.height,r,p,h.data):n.texImage2D(e.TEXTURE_2D,t,m,h.width,h.height,0,r,p,h.data);o.generateMipmaps=!1}else _?(x&&n.texStorage2D(e.TEXTURE_2D,E,m,t.width,t.height),T&&_e(o,t,r,p)):n.texImage2D(e.TEXTURE_2D,0,m,t.width,t.height,0,r,p,t.data)}else if(o.isCompressedTexture){if(o.isCompressedArrayTexture){_&&x&&n.texStorage3D(e.TEXTURE_2D_ARRAY,E,m,g[0].width,g[0].height,t.depth);for(let i=0,a=g.length;i<a;i++)if(h=g[i],o.format!==1023){if(r!==null){if(_){if(T){if(o.layerUpdates.size>0){let t=Uh(h.width,h.height,o.format,o.type);for(let a of o.layerUpdates){let o=h.data.subarray(a*t/h.data.BYTES_PER_ELEMENT,(a+1)*t/h.data.BYTES_PER_ELEMENT);n.compressedTexSubImage3D(e.TEXTURE_2D_ARRAY,i,0,0,a,h.width,h.height,1,r,o)}}else n.compressedTexSubImage3D(e.TEXTURE_2D_ARRAY,i,0,0,0,h.width,h.height,t.depth,r,h.data)}}else n.compressedTexImage3D(e.TEXTURE_2D_ARRAY,i,m,h.width,h.height,t.depth,0,h.data,0,0)}else G(`WebGLRenderer: Attempt to load unsupported compressed texture format in .uploadTexture()`)}else _?T&&n.texSubImage3D(e.TEXTURE_2D_ARRAY,i,0,0,0,h.width,h.height,t.depth,r,p,h.data):n.texImage3D(e.TEXTURE_2D_ARRAY,i,m,h.width,h.height,t.depth,0,r,p,h.data);o.layerUpdates.size>0&&o.clearLayerUpdates()}else{_&&x&&n.texStorage2D(e.TEXTURE_2D,E,m,g[0].width,g[0].height);for(let t=0,i=g.length;t<i;t++)h=g[t],o.format===1023?_?T&&n.texSubImage2D(e.TEXTURE_2D,t,0,0,h.width,h.height,r,p,h.data):n.texImage2D(e.TEXTURE_2D,t,m,h.width,h.height,0,r,p,h.data):r===null?G(`WebGLRenderer: Attempt to load unsupported compressed texture format in .uploadTexture()`):_?T&&n.compressedTexSubImage2D(e.TEXTURE_2D,t,0,0,h.width,h.height,r,h.data):n.compressedTexImage2D(e.TEXTURE_2D,t,m,h.width,h.height,0,h.data)}}else if(o.isDataArrayTexture){if(_){if(x&&n.texStorage3D(e.TEXTURE_2D_ARRAY,E,m,t.width,t.height,t.depth),T){if(o.layerUpdates.size>0){let i=Uh(t.width,t.height,o.format,o.type);for(let a of o.layerUpdates){let o=t.data.subarray(a*i/t.data.BYTES_PER_ELEMENT,(a+1)*i/t.data.BYTES_PER_ELEMENT);n.texSubImage3D(e.TEXTURE_2D_ARRAY,0,0,0,a,t.width,t.height,1,r,p,o)}o.clearLayerUpdates()}else n.texSubImage3D(e.TEXTURE_2D_ARRAY,0,0,0,0,t.width,t.height,t.depth,r,p,t.data)}}else n.texImage3D(e.TEXTURE_2D_ARRAY,0,m,t.width,t.height,t.depth,0,r,p,t.data)}else if(o.isData3DTexture)_?(x&&n.texStorage3D(e.TEXTURE_3D,E,m,t.width,t.height,t.depth),T&&n.texSubImage3D(e.TEXTURE_3D,0,0,0,0,t.width,t.height,t.depth,r,p,t.data)):n.texImage3D(e.TEXTURE_3D,0,m,t.width,t.height,t.depth,0,r,p,t.data);else if(o.isFramebufferTexture){if(x){if(_)n.texStorage2D(e.TEXTURE_2D,E,m,t.width,t.height);else{let i=t.width,a=t.height;for(let t=0;t<E;t++)n.texImage2D(e.TEXTURE_2D,t,m,i,a,0,r,p,null),i>>=1,a>>=1}}}else if(o.isHTMLTexture){if(`texElementImage2D`in e){let n=e.canvas;if(n.hasAttribute(`layoutsubtree`)||n.setAttribute(`layoutsubtree`,`true`),t.parentNode!==n){n.appendChild(t),d.add(o),n.onpaint=e=>{let t=e.changedElements;for(let e of d)t.includes(e.image)&&(e.needsUpdate=!0)},n.requestPaint();return}if(e.texElementImage2D.length===3)e.texElementImage2D(e.TEXTURE_2D,e.RGBA8,t);else{let n=e.RGBA,r=e.RGBA,i=e.UNSIGNED_BYTE;e.texElementImage2D(e.TEXTURE_2D,0,n,r,i,t)}e.texParameteri(e.TEXTURE_2D,e.TEXTURE_MIN_FILTER,e.LINEAR),e.texParameteri(e.TEXTURE_2D,e.TEXTURE_WRAP_S,e.CLAMP_TO_EDGE),e.texParameteri(e.TEXTURE_2D,e.TEXTURE_WRAP_T,e.CLAMP_TO_EDGE)}}else if(g.length>0){if(_&&x){let t=Oe(g[0]);n.texStorage2D(e.TEXTURE_2D,E,m,t.width,t.height)}for(let t=0,i=g.length;t<i;t++)h=g[t],_?T&&n.texSubImage2D(e.TEXTURE_2D,t,0,0,r,p,h):n.texImage2D(e.TEXTURE_2D,t,m,r,p,h);o.generateMipmaps=!1}else if(_){if(x){let r=Oe(t);n.texStorage2D(e.TEXTURE_2D,E,m,r.width,r.height)}T&&n.texSubImage2D(e.TEXTURE_2D,0,0,0,r,p,t)}else n.texImage2D(e.TEXTURE_2D,0,m,r,p,t);y(o)&&o.mipmapsAutoUpdate===!0&&b(c),f.__version=u.version,o.onUpdate&&o.onUpdate(o)}t.__version=o.version}function ye(t,o,s){if(o.image.length!==6)return;let c=he(t,o),l=o.source;n.bindTexture(e.TEXTURE_CUBE_MAP,t.__webglTexture,e.TEXTURE0+s);let u=r.get(l);if(l.version!==u.__version||c===!0){n.activeTexture(e.TEXTURE0+s);let t=Xu.getPrimaries(Xu.workingColorSpace),r=o.colorSpace===``?null:Xu.getPrimaries(o.colorSpace),d=o.colorSpace===``||t===r?e.NONE:e.BROWSER_DEFAULT_WEBGL;n.pixelStorei(e.UNPACK_FLIP_Y_WEBGL,o.flipY),n.pixelStorei(e.UNPACK_PREMULTIPLY_ALPHA_WEBGL,o.premultiplyAlpha),n.pixelStorei(e.UNPACK_ALIGNMENT,o.unpackAlignment),n.pixelStorei(e.UNPACK_COLORSPACE_CONVERSION_WEBGL,d);let f=o.isCompressedTexture||o.image[0].isCompressedTexture,p=o.image[0]&&o.image[0].isDataTexture,m=[];for(let e=0;e<6;e++)!f&&!p?m[e]=v(o.image[e],!0,i.maxCubemapSize):m[e]=p?o.image[e].image:o.image[e],m[e]=R(o,m[e]);let h=m[0],g=a.convert(o.format,o.colorSpace),_=a.convert(o.type),x=S(o.internalFormat,g,_,o.normalized,o.colorSpace),T=o.isVideoTexture!==!0,E=u.__version===void 0||c===!0,D=l.dataReady,O=w(o,h);me(e.TEXTURE_CUBE_MAP,o);let k;if(o.isDepthTexture){if(x=C(o.format===nl,o.type),E){if(T)n.texStorage2D(e.TEXTURE_CUBE_MAP,1,x,h.width,h.height);else for(let t=0;t<6;t++)n.texImage2D(e.TEXTURE_CUBE_MAP_POSITIVE_X+t,0,x,h.width,h.height,0,g,_,null)}}else if(f){T&&E&&n.texStorage2D(e.TEXTURE_CUBE_MAP,O,x,h.width,h.height);for(let t=0;t<6;t++){k=m[t].mipmaps;for(let r=0;r<k.length;r++){let i=k[r];o.format===1023?T?D&&n.texSubImage2D(e.TEXTURE_CUBE_MAP_POSITIVE_X+t,r,0,0,i.width,i.height,g,_,i.data):n.texImage2D(e.TEXTURE_CUBE_MAP_POSITIVE_X+t,r,x,i.width,i.height,0,g,_,i.data):g===null?G(`WebGLRenderer: Attempt to load unsupported compressed texture format in .setTextureCube()`):T?D&&n.compressedTexSubImage2D(e.TEXTURE_CUBE_MAP_POSITIVE_X+t,r,0,0,i.width,i.height,g,i.data):n.compressedTexImage2D(e.TEXTURE_CUBE_MAP_POSITIVE_X+t,r,x,i.width,i.height,0,i.data)}}}else{if(k=o.mipmaps,T&&E){k.length>0&&O++;let t=Oe(m[0]);n.texStorage2D(e.TEXTURE_CUBE_MAP,O,x,t.width,t.height)}for(let t=0;t<6;t++)if(p){T?D&&n.texSubImage2D(e.TEXTURE_CUBE_MAP_POSITIVE_X+t,0,0,0,m[t].width,m[t].height,g,_,m[t].data):n.texImage2D(e.TEXTURE_CUBE_MAP_POSITIVE_X+t,0,x,m[t].width,m[t].height,0,g,_,m[t].data);for(let r=0;r<k.length;r++){let i=k[r].image[t].image;T?D&&n.texSubImage2D(e.TEXTURE_CUBE_MAP_POSITIVE_X+t,r+1,0,0,i.width,i.height,g,_,i.data):n.texImage2D(e.TEXTURE_CUBE_MAP_POSITIVE_X+t,r+1,x,i.width,i.height,0,g,_,i.data)}}else{T?D&&n.texSubImage2D(e.TEXTURE_CUBE_MAP_POSITIVE_X+t,0,0,0,g,_,m[t]):n.texImage2D(e.TEXTURE_CUBE_MAP_POSITIVE_X+t,0,x,g,_,m[t]);for(let r=0;r<k.length;r++){let i=k[r];T?D&&n.texSubImage2D(e.TEXTURE_CUBE_MAP_POSITIVE_X+t,r+1,0,0,g,_,i.image[t]):n.texImage2D(e.TEXTURE_CUBE_MAP_POSITIVE_X+t,r+1,x,g,_,i.image[t])}}}y(o)&&o.mipmapsAutoUpdate===!0&&b(e.TEXTURE_CUBE_MAP),u.__version=l.version,o.onUpdate&&o.onUpdate(o)}t.__version=o.version}function be(t,i,o,c,l,u){let d=a.convert(o.format,o.colorSpace),f=a.convert(o.type),p=S(o.internalFormat,d,f,o.normalized,o.colorSpace),m=r.get(i),h=r.get(o);if(h.__renderTarget=i,!m.__hasExternalTextures){let t=Math.max(1,i.width>>u),r=Math.max(1,i.height>>u);l===e.TEXTURE_3D||l===e.TEXTURE_2D_ARRAY?n.texImage3D(l,u,p,t,r,i.depth,0,d,f,null):n.texImage2D(l,u,p,t,r,0,d,f,null)}n.bindFramebuffer(e.FRAMEBUFFER,t),I(i)?s.framebufferTexture2DMultisampleEXT(e.FRAMEBUFFER,c,l,h.__webglTexture,0,F(i)):(l===e.TEXTURE_2D||l>=e.TEXTURE_CUBE_MAP_POSITIVE_X&&l<=e.TEXTURE_CUBE_MAP_NEGATIVE_Z)&&e.framebufferTexture2D(e.FRAMEBUFFER,c,l,h.__webglTexture,u),n.bindFramebuffer(e.FRAMEBUFFER,null)}function xe(t,n,r){if(e.bindRenderbuffer(e.RENDERBUFFER,t),n.depthBuffer){let i=n.depthTexture,a=i&&i.isDepthTexture?i.type:null,o=C(n.stencilBuffer,a),c=n.stencilBuffer?e.DEPTH_STENCIL_ATTACHMENT:e.DEPTH_ATTACHMENT;I(n)?s.renderbufferStorageMultisampleEXT(e.RENDERBUFFER,F(n),o,n.width,n.height):r?e.renderbufferStorageMultisample(e.RENDERBUFFER,F(n),o,n.width,n.height):e.renderbufferStorage(e.RENDERBUFFER,o,n.width,n.height),e.framebufferRenderbuffer(e.FRAMEBUFFER,c,e.RENDERBUFFER,t)}else{let t=n.textures;for(let i=0;i<t.length;i++){let o=t[i],c=a.convert(o.format,o.colorSpace),l=a.convert(o.type),u=S(o.internalFormat,c,l,o.normalized,o.colorSpace);I(n)?s.renderbufferStorageMultisampleEXT(e.RENDERBUFFER,F(n),u,n.width,n.height):r?e.renderbufferStorageMultisample(e.RENDERBUFFER,F(n),u,n.width,n.height):e.renderbufferStorage(e.RENDERBUFFER,u,n.width,n.height)}}e.bindRenderbuffer(e.RENDERBUFFER,null)}function Se(t,i,a){let o=i.isWebGLCubeRenderTarget===!0;if(n.bindFramebuffer(e.FRAMEBUFFER,t),!(i.depthTexture&&i.depthTexture.isDepthTexture))throw Error(`THREE.WebGLTextures: renderTarget.depthTexture must be an instance of THREE.DepthTexture.`);let c=r.get(i.depthTexture);c.__renderTarget=i;let l=o?i.depthTexture.image[0]:i.depthTexture.image;c.__webglTexture&&l.width===i.width&&l.height===i.height||(l.width=i.width,l.height=i.height,i.depthTexture.needsUpdate=!0),o?ue(i.depthTexture,0):ce(i.depthTexture,0);let u=c.__webglTexture,d=F(i),f=o?e.TEXTURE_CUBE_MAP_POSITIVE_X+a:e.TEXTURE_2D,p=i.depthTexture.format===1027?e.DEPTH_STENCIL_ATTACHMENT:e.DEPTH_ATTACHMENT;if(i.depthTexture.format===1026)I(i)?s.framebufferTexture2DMultisampleEXT(e.FRAMEBUFFER,p,f,u,0,d):e.framebufferTexture2D(e.FRAMEBUFFER,p,f,u,0);else if(i.depthTexture.format===1027)I(i)?s.framebufferTexture2DMultisampleEXT(e.FRAMEBUFFER,p,f,u,0,d):e.framebufferTexture2D(e.FRAMEBUFFER,p,f,u,0);else throw Error(`THREE.WebGLTextures: Unknown depthTexture format.`)}function Ce(t){let i=r.get(t),a=t.isWebGLCubeRenderTarget===!0;if(i.__boundDepthTexture!==t.depthTexture){let e=t.depthTexture;if(i.__depthDisposeCallback&&i.__depthDisposeCallback(),e){let t=()=>{delete i.__boundDepthTexture,delete i.__depthDisposeCallback,e.removeEventListener(`dispose`,t)};e.addEventListener(`dispose`,t),i.__depthDisposeCallback=t}i.__boundDepthTexture=e}if(t.depthTexture&&!i.__autoAllocateDepthBuffer){if(a)for(let e=0;e<6;e++)Se(i.__webglFramebuffer[e],t,e);else t.texture.mipmaps.length>0?Se(i.__webglFramebuffer[0],t,0):Se(i.__webglFramebuffer,t,0)}else if(a){i.__webglDepthbuffer=[];for(let r=0;r<6;r++)if(n.bindFramebuffer(e.FRAMEBUFFER,i.__webglFramebuffer[r]),i.__webglDepthbuffer[r]===void 0)i.__webglDepthbuffer[r]=e.createRenderbuffer(),xe(i.__webglDepthbuffer[r],t,!1);else{let n=t.stencilBuffer?e.DEPTH_STENCIL_ATTACHMENT:e.DEPTH_ATTACHMENT,a=i.__webglDepthbuffer[r];e.bindRenderbuffer(e.RENDERBUFFER,a),e.framebufferRenderbuffer(e.FRAMEBUFFER,n,e.RENDERBUFFER,a)}}else if(t.texture.mipmaps.length>0?n.bindFramebuffer(e.FRAMEBUFFER,i.__webglFramebuffer[0]):n.bindFramebuffer(e.FRAMEBUFFER,i.__webglFramebuffer),i.__webglDepthbuffer===void 0)i.__webglDepthbuffer=e.createRenderbuffer(),xe(i.__webglDepthbuffer,t,!1);else{let n=t.stencilBuffer?e.DEPTH_STENCIL_ATTACHMENT:e.DEPTH_ATTACHMENT,r=i.__webglDepthbuffer;e.bindRenderbuffer(e.RENDERBUFFER,r),e.framebufferRenderbuffer(e.FRAMEBUFFER,n,e.RENDERBUFFER,r)}n.bindFramebuffer(e.FRAMEBUFFER,null)}function we(t,n,i){let a=r.get(t);n!==void 0&&be(a.__webglFramebuffer,t,t.texture,e.COLOR_ATTACHMENT0,e.TEXTURE_2D,0),i!==void 0&&Ce(t)}function P(t){let i=t.texture,s=r.get(t),c=r.get(i);t.addEventListener(`dispose`,O),T(t);let l=t.textures,u=t.isWebGLCubeRenderTarget===!0,d=l.length>1;if(d||(c.__webglTexture===void 0&&(c.__webglTexture=e.createTexture()),c.__version=i.version,o.memory.textures++),u){s.__webglFramebuffer=[];for(let t=0;t<6;t++)if(i.mipmaps.length>0){s.__webglFramebuffer[t]=[];for(let n=0;n<i.mipmaps.length;n++)s.__webglFramebuffer[t][n]=e.createFramebuffer()}else s.__webglFramebuffer[t]=e.createFramebuffer()}else{if(i.mipmaps.length>0){s.__webglFramebuffer=[];for(let t=0;t<i.mipmaps.length;t++)s.__webglFramebuffer[t]=e.createFramebuffer()}else s.__webglFramebuffer=e.createFramebuffer();if(d)for(let t=0,n=l.length;t<n;t++){let n=r.get(l[t]);n.__webglTexture===void 0&&(n.__webglTexture=e.createTexture(),o.memory.textures++)}if(t.samples>0&&I(t)===!1){s.__webglMultisampledFramebuffer=e.createFramebuffer(),s.__webglColorRenderbuffer=[],n.bindFramebuffer(e.FRAMEBUFFER,s.__webglMultisampledFramebuffer);for(let n=0;n<l.length;n++){let r=l[n];s.__webglColorRenderbuffer[n]=e.createRenderbuffer(),e.bindRenderbuffer(e.RENDERBUFFER,s.__webglColorRenderbuffer[n]);let i=a.convert(r.format,r.colorSpace),o=a.convert(r.type),c=S(r.internalFormat,i,o,r.normalized,r.colorSpace,t.isXRRenderTarget===!0),u=F(t);e.renderbufferStorageMultisample(e.RENDERBUFFER,u,c,t.width,t.height),e.framebufferRenderbuffer(e.FRAMEBUFFER,e.COLOR_ATTACHMENT0+n,e.RENDERBUFFER,s.__webglColorRenderbuffer[n])}e.bindRenderbuffer(e.RENDERBUFFER,null),t.depthBuffer&&(s.__webglDepthRenderbuffer=e.createRenderbuffer(),xe(s.__webglDepthRenderbuffer,t,!0)),n.bindFramebuffer(e.FRAMEBUFFER,null)}}if(u){n.bindTexture(e.TEXTURE_CUBE_MAP,c.__webglTexture),me(e.TEXTURE_CUBE_MAP,i);for(let n=0;n<6;n++)if(i.mipmaps.length>0)for(let r=0;r<i.mipmaps.length;r++)be(s.__webglFramebuffer[n][r],t,i,e.COLOR_ATTACHMENT0,e.TEXTURE_CUBE_MAP_POSITIVE_X+n,r);else be(s.__webglFramebuffer[n],t,i,e.COLOR_ATTACHMENT0,e.TEXTURE_CUBE_MAP_POSITIVE_X+n,0);y(i)?b(e.TEXTURE_CUBE_MAP):i.mipmaps.length>0&&e.texParameteri(e.TEXTURE_CUBE_MAP,e.TEXTURE_MAX_LEVEL,i.mipmaps.length-1),n.unbindTexture()}else if(d){for(let i=0,a=l.length;i<a;i++){let a=l[i],o=r.get(a),c=e.TEXTURE_2D;(t.isWebGL3DRenderTarget||t.isWebGLArrayRenderTarget)&&(c=t.isWebGL3DRenderTarget?e.TEXTURE_3D:e.TEXTURE_2D_ARRAY),n.bindTexture(c,o.__webglTexture),me(c,a),be(s.__webglFramebuffer,t,a,e.COLOR_ATTACHMENT0+i,c,0),y(a)&&b(c)}n.unbindTexture()}else{let r=e.TEXTURE_2D;if((t.isWebGL3DRenderTarget||t.isWebGLArrayRenderTarget)&&(r=t.isWebGL3DRenderTarget?e.TEXTURE_3D:e.TEXTURE_2D_ARRAY),n.bindTexture(r,c.__webglTexture),me(r,i),i.mipmaps.length>0)for(let n=0;n<i.mipmaps.length;n++)be(s.__webglFramebuffer[n],t,i,e.COLOR_ATTACHMENT0,r,n);else be(s.__webglFramebuffer,t,i,e.COLOR_ATTACHMENT0,r,0);y(i)?b(r):i.mipmaps.length>0&&e.texParameteri(r,e.TEXTURE_MAX_LEVEL,i.mipmaps.length-1),n.unbindTexture()}t.depthBuffer&&Ce(t)}function Te(e){let t=e.textures;for(let i=0,a=t.length;i<a;i++){let a=t[i];if(y(a)&&a.mipmapsAutoUpdate===!0){let t=x(e),i=r.get(a).__webglTexture;n.bindTexture(t,i),b(t),n.unbindTexture()}}}let Ee=[];function De(t){if(t.samples>0){if(I(t)===!1){let i=t.textures,a=t.width,o=t.height,s=e.COLOR_BUFFER_BIT,l=t.stencilBuffer?e.DEPTH_STENCIL_ATTACHMENT:e.DEPTH_ATTACHMENT,u=r.get(t),d=i.length>1;if(d)for(let t=0;t<i.length;t++)n.bindFramebuffer(e.FRAMEBUFFER,u.__webglMultisampledFramebuffer),e.framebufferRenderbuffer(e.FRAMEBUFFER,e.COLOR_ATTACHMENT0+t,e.RENDERBUFFER,null),n.bindFramebuffer(e.FRAMEBUFFER,u.__webglFramebuffer),e.framebufferTexture2D(e.DRAW_FRAMEBUFFER,e.COLOR_ATTACHMENT0+t,e.TEXTURE_2D,null,0);n.bindFramebuffer(e.READ_FRAMEBUFFER,u.__webglMultisampledFramebuffer),t.texture.mipmaps.length>0?n.bindFramebuffer(e.DRAW_FRAMEBUFFER,u.__webglFramebuffer[0]):n.bindFramebuffer(e.DRAW_FRAMEBUFFER,u.__webglFramebuffer);for(let n=0;n<i.length;n++){if(t.resolveDepthBuffer&&(t.depthBuffer&&(s|=e.DEPTH_BUFFER_BIT),t.stencilBuffer&&t.resolveStencilBuffer&&(s|=e.STENCIL_BUFFER_BIT)),d){e.framebufferRenderbuffer(e.READ_FRAMEBUFFER,e.COLOR_ATTACHMENT0,e.RENDERBUFFER,u.__webglColorRenderbuffer[n]);let t=r.get(i[n]).__webglTexture;e.framebufferTexture2D(e.DRAW_FRAMEBUFFER,e.COLOR_ATTACHMENT0,e.TEXTURE_2D,t,0)}e.blitFramebuffer(0,0,a,o,0,0,a,o,s,e.NEAREST),c===!0&&(Ee.length=0,Ee.push(e.COLOR_ATTACHMENT0+n),t.depthBuffer&&t.storeMultisampledDepthBuffer===!1&&Ee.push(l),e.invalidateFramebuffer(e.READ_FRAMEBUFFER,Ee))}if(n.bindFramebuffer(e.READ_FRAMEBUFFER,null),n.bindFramebuffer(e.DRAW_FRAMEBUFFER,null),d)for(let t=0;t<i.length;t++){n.bindFramebuffer(e.FRAMEBUFFER,u.__webglMultisampledFramebuffer),e.framebufferRenderbuffer(e.FRAMEBUFFER,e.COLOR_ATTACHMENT0+t,e.RENDERBUFFER,u.__webglColorRenderbuffer[t]);let a=r.get(i[t]).__webglTexture;n.bindFramebuffer(e.FRAMEBUFFER,u.__webglFramebuffer),e.framebufferTexture2D(e.DRAW_FRAMEBUFFER,e.COLOR_ATTACHMENT0+t,e.TEXTURE_2D,a,0)}n.bindFramebuffer(e.DRAW_FRAMEBUFFER,u.__webglMultisampledFramebuffer)}else if(t.depthBuffer&&t.storeMultisampledDepthBuffer===!1&&c){let n=t.stencilBuffer?e.DEPTH_STENCIL_ATTACHMENT:e.DEPTH_ATTACHMENT;e.invalidateFramebuffer(e.DRAW_FRAMEBUFFER,[n])}}}function F(e){return Math.min(i.maxSamples,e.samples)}function I(e){let n=r.get(e);return e.samples>0&&t.has(`WEBGL_multisampled_render_to_texture`)===!0&&n.__useRenderToTexture!==!1}function L(e){let t=o.render.frame;u.get(e)!==t&&(u.set(e,t),e.update())}function R(e,t){let n=e.colorSpace,r=e.format,i=e.type;return e.isCompressedTexture===!0||e.isVideoTexture===!0||n!==`srgb-linear`&&n!==``&&(Xu.getTransfer(n)===`srgb`?(r!==1023||i!==1009)&&G(`WebGLTextures: sRGB encoded textures have to use RGBAFormat and UnsignedByteType.`):K(`WebGLTextures: Unsupported texture color space:`,n)),t}function Oe(e){return typeof HTMLImageElement<`u`&&e instanceof HTMLImageElement?(l.width=e.naturalWidth||e.width,l.height=e.naturalHeight||e.height):typeof VideoFrame<`u`&&e instanceof VideoFrame?(l.width=e.displayWidth,l.height=e.displayHeight):(l.width=e.width,l.height=e.height),l}this.allocateTextureUnit=oe,this.resetTextureUnits=re,this.getTextureUnits=ie,this.setTextureUnits=ae,this.setTexture2D=ce,this.setTexture2DArray=le,this.setTexture3D=N,this.setTextureCube=ue,this.rebindTextures=we,this.setupRenderTarget=P,this.updateRenderTargetMipmap=Te,this.updateMultisampleRenderTarget=De,this.setupDepthRenderbuffer=Ce,this.setupFrameBufferTexture=be,this.useMultisampledRTT=I,this.dispose=j}function Hv(e,t){function n(n,r=``){let i,a=Xu.getTransfer(r);if(n===1009)return e.UNSIGNED_BYTE;if(n===1017)return e.UNSIGNED_SHORT_4_4_4_4;if(n===1018)return e.UNSIGNED_SHORT_5_5_5_1;if(n===35902)return e.UNSIGNED_INT_5_9_9_9_REV;if(n===35899)return e.UNSIGNED_INT_10F_11F_11F_REV;if(n===1010)return e.BYTE;if(n===1011)return e.SHORT;if(n===1012)return e.UNSIGNED_SHORT;if(n===1013)return e.INT;if(n===1014)return e.UNSIGNED_INT;if(n===1015)return e.FLOAT;if(n===1016)return e.HALF_FLOAT;if(n===1021)return e.ALPHA;if(n===1022)return e.RGB;if(n===1023)return e.RGBA;if(n===1026)return e.DEPTH_COMPONENT;if(n===1027)return e.DEPTH_STENCIL;if(n===1028)return e.RED;if(n===1029)return e.RED_INTEGER;if(n===1030)return e.RG;if(n===1031)return e.RG_INTEGER;if(n===1033)return e.RGBA_INTEGER;if(n===33776||n===33777||n===33778||n===33779){if(a===`srgb`){if(i=t.get(`WEBGL_compressed_texture_s3tc_srgb`),i!==null){if(n===33776)return i.COMPRESSED_SRGB_S3TC_DXT1_EXT;if(n===33777)return i.COMPRESSED_SRGB_ALPHA_S3TC_DXT1_EXT;if(n===33778)return i.COMPRESSED_SRGB_ALPHA_S3TC_DXT3_EXT;if(n===33779)return i.COMPRESSED_SRGB_ALPHA_S3TC_DXT5_EXT}else return null}else if(i=t.get(`WEBGL_compressed_texture_s3tc`),i!==null){if(n===33776)return i.COMPRESSED_RGB_S3TC_DXT1_EXT;if(n===33777)return i.COMPRESSED_RGBA_S3TC_DXT1_EXT;if(n===33778)return i.COMPRESSED_RGBA_S3TC_DXT3_EXT;if(n===33779)return i.COMPRESSED_RGBA_S3TC_DXT5_EXT}else return null}if(n===35840||n===35841||n===35842||n===35843){if(i=t.get(`WEBGL_compressed_texture_pvrtc`),i!==null){if(n===35840)return i.COMPRESSED_RGB_PVRTC_4BPPV1_IMG;if(n===35841)return i.COMPRESSED_RGB_PVRTC_2BPPV1_IMG;if(n===35842)return i.COMPRESSED_RGBA_PVRTC_4BPPV1_IMG;if(n===35843)return i.COMPRESSED_RGBA_PVRTC_2BPPV1_IMG}else return null}if(n===36196||n===37492||n===37496||n===37488||n===37489||n===37490||n===37491){if(i=t.get(`WEBGL_compressed_texture_etc`),i!==null){if(n===36196||n===37492)return a===`srgb`?i.COMPRESSED_SRGB8_ETC2:i.COMPRESSED_RGB8_ETC2;if(n===37496)return a===`srgb`?i.COMPRESSED_SRGB8_ALPHA8_ETC2_EAC:i.COMPRESSED_RGBA8_ETC2_EAC;if(n===37488)return i.COMPRESSED_R11_EAC;if(n===37489)return i.COMPRESSED_SIGNED_R11_EAC;if(n===37490)return i.COMPRESSED_RG11_EAC;if(n===37491)return i.COMPRESSED_SIGNED_RG11_EAC}else return null}if(n===37808||n===37809||n===37810||n===37811||n===37812||n===37813||n===37814||n===37815||n===37816||n===37817||n===37818||n===37819||n===37820||n===37821){if(i=t.get(`WEBGL_compressed_texture_astc`),i!==null){if(n===37808)return a===`srgb`?i.COMPRESSED_SRGB8_ALPHA8_ASTC_4x4_KHR:i.COMPRESSED_RGBA_ASTC_4x4_KHR;if(n===37809)return a===`srgb`?i.COMPRESSED_SRGB8_ALPHA8_ASTC_5x4_KHR:i.COMPRESSED_RGBA_ASTC_5x4_KHR;if(n===37810)return a===`srgb`?i.COMPRESSED_SRGB8_ALPHA8_ASTC_5x5_KHR:i.COMPRESSED_RGBA_ASTC_5x5_KHR;if(n===37811)return a===`srgb`?i.COMPRESSED_SRGB8_ALPHA8_ASTC_6x5_KHR:i.COMPRESSED_RGBA_ASTC_6x5_KHR;if(n===37812)return a===`srgb`?i.COMPRESSED_SRGB8_ALPHA8_ASTC_6x6_KHR:i.COMPRESSED_RGBA_ASTC_6x6_KHR;if(n===37813)return a===`srgb`?i.COMPRESSED_SRGB8_ALPHA8_ASTC_8x5_KHR:i.COMPRESSED_RGBA_ASTC_8x5_KHR;if(n===37814)return a===`srgb`?i.COMPRESSED_SRGB8_ALPHA8_ASTC_8x6_KHR:i.COMPRESSED_RGBA_ASTC_8x6_KHR;if(n===37815)return a===`srgb`?i.COMPRESSED_SRGB8_ALPHA8_ASTC_8x8_KHR:i.COMPRESSED_RGBA_ASTC_8x8_KHR;if(n===37816)return a===`srgb`?i.COMPRESSED_SRGB8_ALPHA8_ASTC_10x5_KHR:i.COMPRESSED_RGBA_ASTC_10x5_KHR;if(n===37817)return a===`srgb`?i.COMPRESSED_SRGB8_ALPHA8_ASTC_10x6_KHR:i.COMPRESSED_RGBA_ASTC_10x6_KHR;if(n===37818)return a===`srgb`?i.COMPRESSED_SRGB8_ALPHA8_ASTC_10x8_KHR:i.COMPRESSED_RGBA_ASTC_10x8_KHR;if(n===37819)return a===`srgb`?i.COMPRESSED_SRGB8_ALPHA8_ASTC_10x10_KHR:i.COMPRESSED_RGBA_ASTC_10x10_KHR;if(n===37820)return a===`srgb`?i.COMPRESSED_SRGB8_ALPHA8_ASTC_12x10_KHR:i.COMPRESSED_RGBA_ASTC_12x10_KHR;if(n===37821)return a===`srgb`?i.COMPRESSED_SRGB8_ALPHA8_ASTC_12x12_KHR:i.COMPRESSED_RGBA_ASTC_12x12_KHR}else return null}if(n===36492||n===36494||n===36495){if(i=t.get(`EXT_texture_compression_bptc`),i!==null){if(n===36492)return a===`srgb`?i.COMPRESSED_SRGB_ALPHA_BPTC_UNORM_EXT:i.COMPRESSED_RGBA_BPTC_UNORM_EXT;if(n===36494)return i.COMPRESSED_RGB_BPTC_SIGNED_FLOAT_EXT;if(n===36495)return i.COMPRESSED_RGB_BPTC_UNSIGNED_FLOAT_EXT}else return null}if(n===36283||n===36284||n===36285||n===36286){if(i=t.get(`EXT_texture_compression_rgtc`),i!==null){if(n===36283)return i.COMPRESSED_RED_RGTC1_EXT;if(n===36284)return i.COMPRESSED_SIGNED_RED_RGTC1_EXT;if(n===36285)return i.COMPRESSED_RED_GREEN_RGTC2_EXT;if(n===36286)return i.COMPRESSED_SIGNED_RED_GREEN_RGTC2_EXT}else return null}return n===1020?e.UNSIGNED_INT_24_8:e[n]===void 0?null:e[n]}return{convert:n}}var Uv=`
void main() {

	gl_Position = vec4( position, 1.0 );

}`,Wv=`
uniform sampler2DArray depthColor;
uniform float depthWidth;
uniform float depthHeight;

void main() {

	vec2 coord = vec2( gl_FragCoord.x / depthWidth, gl_FragCoord.y / depthHeight );

	if ( coord.x >= 1.0 ) {

		gl_FragDepth = texture( depthColor, vec3( coord.x - 1.0, coord.y, 1 ) ).r;

	} else {

		gl_FragDepth = texture( depthColor, vec3( coord.x, coord.y, 0 ) ).r;

	}

}`,Gv=class{constructor(){this.texture=null,this.mesh=null,this.depthNear=0,this.depthFar=0}init(e,t){if(this.texture===null){let n=new Qp(e.texture);(e.depthNear!==t.depthNear||e.depthFar!==t.depthFar)&&(this.depthNear=e.depthNear,this.depthFar=e.depthFar),this.texture=n}}getMesh(e){if(this.texture!==null&&this.mesh===null){let t=e.cameras[0].viewport,n=new Sm({vertexShader:Uv,fragmentShader:Wv,uniforms:{depthColor:{value:this.texture},depthWidth:{value:t.z},depthHeight:{value:t.w}}});this.mesh=new _p(new lm(20,20),n)}return this.mesh}reset(){this.texture=null,this.mesh=null}getDepthTexture(){return this.texture}},Kv=class extends hu{constructor(e,t){super();let n=this,r=null,i=1,a=null,o=`local-floor`,s=1,c=null,l=null,u=null,d=null,f=null,p=null,m=typeof XRWebGLBinding<`u`,h=new Gv,g={},_=t.getContextAttributes(),v=null,y=null,b=[],x=[],S=new J,C=null,w=null,T=new sh;T.viewport=new sd;let E=new sh;E.viewport=new sd;let D=[T,E],O=new hh,k=null,A=null;this.cameraAutoUpdate=!0,this.enabled=!1,this.isPresenting=!1,this.getController=function(e){let t=b[e];return t===void 0&&(t=new Hd,b[e]=t),t.getTargetRaySpace()},this.getControllerGrip=function(e){let t=b[e];return t===void 0&&(t=new Hd,b[e]=t),t.getGripSpace()},this.getHand=function(e){let t=b[e];return t===void 0&&(t=new Hd,b[e]=t),t.getHandSpace()};function j(e){let t=x.indexOf(e.inputSource);if(t===-1)return;let n=b[t];n!==void 0&&(n.update(e.inputSource,e.frame,c||a),n.dispatchEvent({type:e.type,data:e.inputSource}))}function ee(){r.removeEventListener(`select`,j),r.removeEventListener(`selectstart`,j),r.removeEventListener(`selectend`,j),r.removeEventListener(`squeeze`,j),r.removeEventListener(`squeezestart`,j),r.removeEventListener(`squeezeend`,j),r.removeEventListener(`end`,ee),r.removeEventListener(`inputsourceschange`,M);for(let e=0;e<b.length;e++){let t=x[e];t!==null&&(x[e]=null,b[e].disconnect(t))}k=null,A=null,h.reset();for(let e in g)delete g[e];if(e.setRenderTarget(v),f=null,d=null,u=null,r=null,y=null,ae.stop(),n.isPresenting=!1,e.setPixelRatio(C),e.setSize(S.width,S.height,!1),w!==null){let e=w.camera;e.fov=w.fov,e.zoom=w.zoom,e.updateProjectionMatrix(),w=null}n.dispatchEvent({type:`sessionend`})}this.setFramebufferScaleFactor=function(e){i=e,n.isPresenting===!0&&G(`WebXRManager: Cannot change framebuffer scale while presenting.`)},this.setReferenceSpaceType=function(e){o=e,n.isPresenting===!0&&G(`WebXRManager: Cannot change reference space type while presenting.`)},this.getReferenceSpace=function(){return c||a},this.setReferenceSpace=function(e){c=e},this.getBaseLayer=function(){return d===null?f:d},this.getBinding=function(){return u===null&&m&&(u=new XRWebGLBinding(r,t)),u},this.getFrame=function(){return p},this.getSession=function(){return r},this.setSession=async function(l){if(r=l,r!==null){if(v=e.getRenderTarget(),r.addEventListener(`select`,j),r.addEventListener(`selectstart`,j),r.addEventListener(`selectend`,j),r.addEventListener(`squeeze`,j),r.addEventListener(`squeezestart`,j),r.addEventListener(`squeezeend`,j),r.addEventListener(`end`,ee),r.addEventListener(`inputsourceschange`,M),_.xrCompatible!==!0&&await t.makeXRCompatible(),C=e.getPixelRatio(),e.getSize(S),m&&`createProjectionLayer`in XRWebGLBinding.prototype){let n=null,a=null,o=null;_.depth&&(o=_.stencil?t.DEPTH24_STENCIL8:t.DEPTH_COMPONENT24,n=_.stencil?nl:tl,a=_.stencil?Yc:Wc);let s={colorFormat:t.RGBA8,depthFormat:o,scaleFactor:i};u=this.getBinding(),d=u.createProjectionLayer(s),r.updateRenderState({layers:[d]}),e.setPixelRatio(1),e.setSize(d.textureWidth,d.textureHeight,!1),y=new ld(d.textureWidth,d.textureHeight,{format:el,type:zc,depthTexture:new Xp(d.textureWidth,d.textureHeight,a,void 0,void 0,void 0,void 0,void 0,void 0,n),stencilBuffer:_.stencil,colorSpace:e.outputColorSpace,samples:_.antialias?4:0,resolveDepthBuffer:d.ignoreDepthValues===!1,resolveStencilBuffer:d.ignoreDepthValues===!1,storeMultisampledDepthBuffer:d.ignoreDepthValues===!1,storeMultisampledStencilBuffer:d.ignoreDepthValues===!1})}else{let n={antialias:_.antialias,alpha:!0,depth:_.depth,stencil:_.stencil,framebufferScaleFactor:i};f=new XRWebGLLayer(r,t,n),r.updateRenderState({baseLayer:f}),e.setPixelRatio(1),e.setSize(f.framebufferWidth,f.framebufferHeight,!1),y=new ld(f.framebufferWidth,f.framebufferHeight,{format:el,type:zc,colorSpace:e.outputColorSpace,stencilBuffer:_.stencil,resolveDepthBuffer:f.ignoreDepthValues===!1,resolveStencilBuffer:f.ignoreDepthValues===!1,storeMultisampledDepthBuffer:f.ignoreDepthValues===!1,storeMultisampledStencilBuffer:f.ignoreDepthValues===!1})}y.isXRRenderTarget=!0,this.setFoveation(s),c=null,a=await r.requestReferenceSpace(o),ae.setContext(r),ae.start(),n.isPresenting=!0,n.dispatchEvent({type:`sessionstart`})}},this.getEnvironmentBlendMode=function(){if(r!==null)return r.environmentBlendMode},this.getDepthTexture=function(){return h.getDepthTexture()};function M(e){for(let t=0;t<e.removed.length;t++){let n=e.removed[t],r=x.indexOf(n);r>=0&&(x[r]=null,b[r].disconnect(n))}for(let t=0;t<e.added.length;t++){let n=e.added[t],r=x.indexOf(n);if(r===-1){for(let e=0;e<b.length;e++)if(e>=x.length){x.push(n),r=e;break}else if(x[e]===null){x[e]=n,r=e;break}if(r===-1)break}let i=b[r];i&&i.connect(n)}}function te(e,t){t===null?e.matrixWorld.copy(e.matrix):e.matrixWorld.multiplyMatrices(t.matrixWorld,e.matrix),e.matrixWorldInverse.copy(e.matrixWorld).invert()}this.updateCamera=function(e){if(r===null)return;let t=e.near,n=e.far;h.texture!==null&&(h.depthNear>0&&(t=h.depthNear),h.depthFar>0&&(n=h.depthFar)),O.near=E.near=T.near=t,O.far=E.far=T.far=n,(k!==O.near||A!==O.far)&&(r.updateRenderState({depthNear:O.near,depthFar:O.far}),k=O.near,A=O.far),O.layers.mask=e.layers.mask|6,T.layers.mask=O.layers.mask&-5,E.layers.mask=O.layers.mask&-3;let i=e.parent,a=O.cameras;te(O,i);for(let e=0;e<a.length;e++)te(a[e],i);O.projectionMatrix.copy(T.projectionMatrix),O.projectionMatrixInverse.copy(T.projectionMatrixInverse),w===null&&e.isPerspectiveCamera&&(w={camera:e,fov:e.fov,zoom:e.zoom}),ne(e,O,i)};function ne(e,t,n){n===null?e.matrix.copy(t.matrixWorld):(e.matrix.copy(n.matrixWorld),e.matrix.invert(),e.matrix.multiply(t.matrixWorld)),e.matrix.decompose(e.position,e.quaternion,e.scale),e.updateMatrixWorld(!0),e.projectionMatrix.copy(t.projectionMatrix),e.projectionMatrixInverse.copy(t.projectionMatrixInverse),e.isPerspectiveCamera&&(e.fov=yu*2*Math.atan(1/e.projectionMatrix.elements[5]),e.zoom=1)}this.getCamera=function(){return O},this.getFoveation=function(){if(d!==null||f!==null)return s},this.setFoveation=function(e){s=e,d!==null&&(d.fixedFoveation=e),f!==null&&f.fixedFoveation!==void 0&&(f.fixedFoveation=e)},this.hasDepthSensing=function(){return h.texture!==null},this.getDepthSensingMesh=function(){return h.getMesh(O)},this.getCameraTexture=function(e){return g[e]};let re=null;function ie(t,i){if(l=i.getViewerPose(c||a),p=i,l!==null){let t=l.views;f!==null&&(e.setRenderTargetFramebuffer(y,f.framebuffer),e.setRenderTarget(y));let i=!1;t.length!==O.cameras.length&&(O.cameras.length=0,i=!0);for(let n=0;n<t.length;n++){let r=t[n],a=null;if(f!==null)a=f.getViewport(r);else{let t=u.getViewSubImage(d,r);a=t.viewport,n===0&&(e.setRenderTargetTextures(y,t.colorTexture,t.depthStencilTexture),e.setRenderTarget(y))}let o=D[n];o===void 0&&(o=new sh,o.layers.enable(n),o.viewport=new sd,D[n]=o),o.matrix.fromArray(r.transform.matrix),o.matrix.decompose(o.position,o.quaternion,o.scale),o.projectionMatrix.fromArray(r.projectionMatrix),o.projectionMatrixInverse.copy(o.projectionMatrix).invert(),o.viewport.set(a.x,a.y,a.width,a.height),n===0&&(O.matrix.copy(o.matrix),O.matrix.decompose(O.position,O.quaternion,O.scale)),i===!0&&O.cameras.push(o)}let a=r.enabledFeatures;if(a&&a.includes(`depth-sensing`)&&r.depthUsage==`gpu-optimized`&&m){u=n.getBinding();let e=u.getDepthInformation(t[0]);e&&e.isValid&&e.texture&&h.init(e,r.renderState)}if(a&&a.includes(`camera-access`)&&m){e.state.unbindTexture(),u=n.getBinding();for(let e=0;e<t.length;e++){let n=t[e].camera;if(n){let e=g[n];e||(e=new Qp,g[n]=e);let t=u.getCameraImage(n);e.sourceTexture=t}}}}for(let e=0;e<b.length;e++){let t=x[e],n=b[e];t!==null&&n!==void 0&&n.update(t,i,c||a)}re&&re(t,i),i.detectedPlanes&&n.dispatchEvent({type:`planesdetected`,data:i}),p=null}let ae=new Gh;ae.setAnimationLoop(ie),this.setAnimationLoop=function(e){re=e},this.dispose=function(){}}},qv=new fd,Jv=new X;Jv.set(-1,0,0,0,1,0,0,0,1);function Yv(e,t){function n(e,t){e.matrixAutoUpdate===!0&&e.updateMatrix(),t.value.copy(e.matrix)}function r(t,n){n.color.getRGB(t.fogColor.value,vm(e)),n.isFog?(t.fogNear.value=n.near,t.fogFar.value=n.far):n.isFogExp2&&(t.fogDensity.value=n.density)}function i(e,t,n,r,i){t.isNodeMaterial?t.uniformsNeedUpdate=!1:t.isMeshBasicMaterial?a(e,t):t.isMeshLambertMaterial?(a(e,t),t.envMap&&(e.envMapIntensity.value=t.envMapIntensity)):t.isMeshToonMaterial?(a(e,t),d(e,t)):t.isMeshPhongMaterial?(a(e,t),u(e,t),t.envMap&&(e.envMapIntensity.value=t.envMapIntensity)):t.isMeshStandardMaterial?(a(e,t),f(e,t),t.isMeshPhysicalMaterial&&p(e,t,i)):t.isMeshMatcapMaterial?(a(e,t),m(e,t)):t.isMeshDepthMaterial?a(e,t):t.isMeshDistanceMaterial?(a(e,t),h(e,t)):t.isMeshNormalMaterial?a(e,t):t.isLineBasicMaterial?(o(e,t),t.isLineDashedMaterial&&s(e,t)):t.isPointsMaterial?c(e,t,n,r):t.isSpriteMaterial?l(e,t):t.isShadowMaterial?(e.color.value.copy(t.color),e.opacity.value=t.opacity):t.isShaderMaterial&&(t.uniformsNeedUpdate=!1)}function a(e,r){e.opacity.value=r.opacity,r.color&&e.diffuse.value.copy(r.color),r.emissive&&e.emissive.value.copy(r.emissive).multiplyScalar(r.emissiveIntensity),r.map&&(e.map.value=r.map,n(r.map,e.mapTransform)),r.alphaMap&&(e.alphaMap.value=r.alphaMap,n(r.alphaMap,e.alphaMapTransform)),r.bumpMap&&(e.bumpMap.value=r.bumpMap,n(r.bumpMap,e.bumpMapTransform),e.bumpScale.value=r.bumpScale,r.side===1&&(e.bumpScale.value*=-1)),r.normalMap&&(e.normalMap.value=r.normalMap,n(r.normalMap,e.normalMapTransform),e.normalScale.value.copy(r.normalScale),r.side===1&&e.normalScale.value.negate()),r.displacementMap&&(e.displacementMap.value=r.displacementMap,n(r.displacementMap,e.displacementMapTransform),e.displacementScale.value=r.displacementScale,e.displacementBias.value=r.displacementBias),r.emissiveMap&&(e.emissiveMap.value=r.emissiveMap,n(r.emissiveMap,e.emissiveMapTransform)),r.specularMap&&(e.specularMap.value=r.specularMap,n(r.specularMap,e.specularMapTransform)),r.alphaTest>0&&(e.alphaTest.value=r.alphaTest);let i=t.get(r),a=i.envMap,o=i.envMapRotation;a&&(e.envMap.value=a,e.envMapRotation.value.setFromMatrix4(qv.makeRotationFromEuler(o)).transpose(),a.isCubeTexture&&a.isRenderTargetTexture===!1&&e.envMapRotation.value.premultiply(Jv),e.reflectivity.value=r.reflectivity,e.ior.value=r.ior,e.refractionRatio.value=r.refractionRatio),r.lightMap&&(e.lightMap.value=r.lightMap,e.lightMapIntensity.value=r.lightMapIntensity,n(r.lightMap,e.lightMapTransform)),r.aoMap&&(e.aoMap.value=r.aoMap,e.aoMapIntensity.value=r.aoMapIntensity,n(r.aoMap,e.aoMapTransform))}function o(e,t){e.diffuse.value.copy(t.color),e.opacity.value=t.opacity,t.map&&(e.map.value=t.map,n(t.map,e.mapTransform))}function s(e,t){e.dashSize.value=t.dashSize,e.totalSize.value=t.dashSize+t.gapSize,e.scale.value=t.scale}function c(e,t,r,i){e.diffuse.value.copy(t.color),e.opacity.value=t.opacity,e.size.value=t.size*r,e.scale.value=i*.5,t.map&&(e.map.value=t.map,n(t.map,e.uvTransform)),t.alphaMap&&(e.alphaMap.value=t.alphaMap,n(t.alphaMap,e.alphaMapTransform)),t.alphaTest>0&&(e.alphaTest.value=t.alphaTest)}function l(e,t){e.diffuse.value.copy(t.color),e.opacity.value=t.opacity,e.rotation.value=t.rotation,t.map&&(e.map.value=t.map,n(t.map,e.mapTransform)),t.alphaMap&&(e.alphaMap.value=t.alphaMap,n(t.alphaMap,e.alphaMapTransform)),t.alphaTest>0&&(e.alphaTest.value=t.alphaTest)}function u(e,t){e.specular.value.copy(t.specular),e.shininess.value=Math.max(t.shininess,1e-4)}function d(e,t){t.gradientMap&&(e.gradientMap.value=t.gradientMap)}function f(e,t){e.metalness.value=t.metalness,t.metalnessMap&&(e.metalnessMap.value=t.metalnessMap,n(t.metalnessMap,e.metalnessMapTransform)),e.roughness.value=t.roughness,t.roughnessMap&&(e.roughnessMap.value=t.roughnessMap,n(t.roughnessMap,e.roughnessMapTransform)),t.envMap&&(e.envMapIntensity.value=t.envMapIntensity)}function p(e,t,r){e.ior.value=t.ior,t.diffuseRoughness>0&&(e.diffuseRoughness.value=t.diffuseRoughness,t.diffuseRoughnessMap&&(e.diffuseRoughnessMap.value=t.diffuseRoughnessMap,n(t.diffuseRoughnessMap,e.diffuseRoughnessMapTransform))),t.sheen>0&&(e.sheenColor.value.copy(t.sheenColor).multiplyScalar(t.sheen),e.sheenRoughness.value=t.sheenRoughness,t.sheenColorMap&&(e.sheenColorMap.value=t.sheenColorMap,n(t.sheenColorMap,e.sheenColorMapTransform)),t.sheenRoughnessMap&&(e.sheenRoughnessMap.value=t.sheenRoughnessMap,n(t.sheenRoughnessMap,e.sheenRoughnessMapTransform))),t.clearcoat>0&&(e.clearcoat.value=t.clearcoat,e.clearcoatRoughness.value=t.clearcoatRoughness,t.clearcoatMap&&(e.clearcoatMap.value=t.clearcoatMap,n(t.clearcoatMap,e.clearcoatMapTransform)),t.clearcoatRoughnessMap&&(e.clearcoatRoughnessMap.value=t.clearcoatRoughnessMap,n(t.clearcoatRoughnessMap,e.clearcoatRoughnessMapTransform)),t.clearcoatNormalMap&&(e.clearcoatNormalMap.value=t.clearcoatNormalMap,n(t.clearcoatNormalMap,e.clearcoatNormalMapTransform),e.clearcoatNormalScale.value.copy(t.clearcoatNormalScale),t.side===1&&e.clearcoatNormalScale.value.negate())),t.dispersion>0&&(e.dispersion.value=t.dispersion),t.retroreflectivity>0&&(e.retroreflectivity.value=t.retroreflectivity),t.iridescence>0&&(e.iridescence.value=t.iridescence,e.iridescenceIOR.value=t.iridescenceIOR,e.iridescenceThicknessMinimum.value=t.iridescenceThicknessMinimum,e.iridescenceThicknessMaximum.value=t.iridescenceThicknessMaximum,t.iridescenceMap&&(e.iridescenceMap.value=t.iridescenceMap,n(t.iridescenceMap,e.iridescenceMapTransform)),t.iridescenceThicknessMap&&(e.iridescenceThicknessMap.value=t.iridescenceThicknessMap,n(t.iridescenceThicknessMap,e.iridescenceThicknessMapTransform))),t.transmission>0&&(e.transmission.value=t.transmission,e.transmissionSamplerMap.value=r.texture,e.transmissionSamplerSize.value.set(r.width,r.height),t.transmissionMap&&(e.transmissionMap.value=t.transmissionMap,n(t.transmissionMap,e.transmissionMapTransform)),e.thickness.value=t.thickness,t.thicknessMap&&(e.thicknessMap.value=t.thicknessMap,n(t.thicknessMap,e.thicknessMapTransform)),e.attenuationDistance.value=t.attenuationDistance,e.attenuationColor.value.copy(t.attenuationColor)),t.anisotropy>0&&(e.anisotropyVector.value.set(t.anisotropy*Math.cos(t.anisotropyRotation),t.anisotropy*Math.sin(t.anisotropyRotation)),t.anisotropyMap&&(e.anisotropyMap.value=t.anisotropyMap,n(t.anisotropyMap,e.anisotropyMapTransform))),e.specularIntensity.value=t.specularIntensity,e.specularColor.value.copy(t.specularColor),t.specularColorMap&&(e.specularColorMap.value=t.specularColorMap,n(t.specularColorMap,e.specularColorMapTransform)),t.specularIntensityMap&&(e.specularIntensityMap.value=t.specularIntensityMap,n(t.specularIntensityMap,e.specularIntensityMapTransform))}function m(e,t){t.matcap&&(e.matcap.value=t.matcap)}function h(e,n){let r=t.get(n).light;e.referencePosition.value.setFromMatrixPosition(r.matrixWorld),e.nearDistance.value=r.shadow.camera.near,e.farDistance.value=r.shadow.camera.far}return{refreshFogUniforms:r,refreshMaterialUniforms:i}}function Xv(e,t,n,r){let i={},a={};function o(e,t){let n=t.program;r.uniformBlockBinding(e,n,i[e.id])}function s(e,n){let o=i[e.id];o===void 0&&(m(e),o=c(e),i[e.id]=o,e.addEventListener(`dispose`,g));let s=n.program;r.updateUBOMapping(e,s);let u=t.render.frame;a[e.id]!==u&&(l(e),a[e.id]=u)}function c(t){let n=e.createBuffer(),r=t.__size,i=t.usage;return e.bindBuffer(e.UNIFORM_BUFFER,n),e.bufferData(e.UNIFORM_BUFFER,r,i),e.bindBuffer(e.UNIFORM_BUFFER,null),n}function l(t){let n=i[t.id],r=t.uniforms,a=t.__cache;e.bindBuffer(e.UNIFORM_BUFFER,n);for(let e=0,t=r.length;e<t;e++){let t=r[e];if(Array.isArray(t))for(let n=0,r=t.length;n<r;n++)u(t[n],e,n,a);else u(t,e,0,a)}e.bindBuffer(e.UNIFORM_BUFFER,null)}function u(t,n,r,i){if(f(t,n,r,i)===!0){let n=t.__offset,r=t.value;if(Array.isArray(r)){let e=0;for(let n=0;n<r.length;n++){let i=r[n],a=h(i,!0);d(i,t.__data,e),e+=a.storage/Float32Array.BYTES_PER_ELEMENT}}else d(r,t.__data,0);e.bufferSubData(e.UNIFORM_BUFFER,n,t.__data)}}function d(e,t,n){typeof e==`number`||typeof e==`boolean`?t[n]=e:e.isMatrix3?(t[n]=e.elements[0],t[n+1]=e.elements[1],t[n+2]=e.elements[2],t[n+3]=0,t[n+4]=e.elements[3],t[n+5]=e.elements[4],t[n+6]=e.elements[5],t[n+7]=0,t[n+8]=e.elements[6],t[n+9]=e.elements[7],t[n+10]=e.elements[8],t[n+11]=0):ArrayBuffer.isView(e)?t.set(e.subarray(0,t.length-n),n):e.toArray(t,n)}function f(e,t,n,r){let i=e.value,a=t+`_`+n;if(Array.isArray(i)){r[a]===void 0&&(r[a]=[]);let e=r[a],t=!1;for(let n=0;n<i.length;n++)p(i[n],e,n)===!0&&(t=!0);return t}return p(i,r,a)}function p(e,t,n){if(t[n]===void 0)return t[n]=typeof e==`number`||typeof e==`boolean`?e:ArrayBuffer.isView(e)?e.slice():e.clone(),!0;{let r=t[n];if(typeof e==`number`||typeof e==`boolean`){if(r!==e)return t[n]=e,!0}else if(ArrayBuffer.isView(e))return!0;else if(r.equals(e)===!1)return r.copy(e),!0}return!1}function m(e){let t=e.uniforms,n=0;for(let e=0,r=t.length;e<r;e++){let r=Array.isArray(t[e])?t[e]:[t[e]];for(let i=0,a=r.length;i<a;i++){let a=r[i],o=Array.isArray(a.value)?a.value:[a.value],s=Array.isArray(t[e])||Array.isArray(a.value),c=n;for(let e=0,t=o.length;e<t;e++){let t=o[e],r=h(t,s),i=n%16,a=i%r.boundary,l=i+a;n+=a,l!==0&&16-l<r.storage&&(n+=16-l),e===0&&(c=n),n+=r.storage}a.__data=new(a.type===`int`?Int32Array:a.type===`uint`?Uint32Array:Float32Array)((n-c)/Float32Array.BYTES_PER_ELEMENT),a.__offset=c}}let r=n%16;return r>0&&(n+=16-r),e.__size=n,e.__cache={},this}function h(e,t){let n={boundary:0,storage:0};return typeof e==`number`||typeof e==`boolean`?(n.boundary=4,n.storage=4):e.isVector2?(n.boundary=8,n.storage=8):e.isVector3||e.isColor?(n.boundary=16,n.storage=12):e.isVector4?(n.boundary=16,n.storage=16):e.isMatrix3?(n.boundary=16,n.storage=48):e.isMatrix4?(n.boundary=16,n.storage=64):e.isTexture?G(`WebGLRenderer: Texture samplers can not be part of an uniforms group.`):ArrayBuffer.isView(e)?(n.boundary=16,n.storage=e.byteLength):G(`WebGLRenderer: Unsupported uniform value type.`,e),t===!0&&(n.boundary=16,n.storage=Math.ceil(n.storage/16)*16),n}function g(t){let n=t.target;n.removeEventListener(`dispose`,g),e.deleteBuffer(i[n.id]),delete i[n.id],delete a[n.id]}function _(){for(let t in i)e.deleteBuffer(i[t]);i={},a={}}return{bind:o,update:s,dispose:_}}var Zv=new Uint16Array([12469,15057,12620,14925,13266,14620,13807,14376,14323,13990,14545,13625,14713,13328,14840,12882,14931,12528,14996,12233,15039,11829,15066,11525,15080,11295,15085,10976,15082,10705,15073,10495,13880,14564,13898,14542,13977,14430,14158,14124,14393,13732,14556,13410,14702,12996,14814,12596,14891,12291,14937,11834,14957,11489,14958,11194,14943,10803,14921,10506,14893,10278,14858,9960,14484,14039,14487,14025,14499,13941,14524,13740,14574,13468,14654,13106,14743,12678,14818,12344,14867,11893,14889,11509,14893,11180,14881,10751,14852,10428,14812,10128,14765,9754,14712,9466,14764,13480,14764,13475,14766,13440,14766,13347,14769,13070,14786,12713,14816,12387,14844,11957,14860,11549,14868,11215,14855,10751,14825,10403,14782,10044,14729,9651,14666,9352,14599,9029,14967,12835,14966,12831,14963,12804,14954,12723,14936,12564,14917,12347,14900,11958,14886,11569,14878,11247,14859,10765,14828,10401,14784,10011,14727,9600,14660,9289,14586,8893,14508,8533,15111,12234,15110,12234,15104,12216,15092,12156,15067,12010,15028,11776,14981,11500,14942,11205,14902,10752,14861,10393,14812,9991,14752,9570,14682,9252,14603,8808,14519,8445,14431,8145,15209,11449,15208,11451,15202,11451,15190,11438,15163,11384,15117,11274,15055,10979,14994,10648,14932,10343,14871,9936,14803,9532,14729,9218,14645,8742,14556,8381,14461,8020,14365,7603,15273,10603,15272,10607,15267,10619,15256,10631,15231,10614,15182,10535,15118,10389,15042,10167,14963,9787,14883,9447,14800,9115,14710,8665,14615,8318,14514,7911,14411,7507,14279,7198,15314,9675,15313,9683,15309,9712,15298,9759,15277,9797,15229,9773,15166,9668,15084,9487,14995,9274,14898,8910,14800,8539,14697,8234,14590,7790,14479,7409,14367,7067,14178,6621,15337,8619,15337,8631,15333,8677,15325,8769,15305,8871,15264,8940,15202,8909,15119,8775,15022,8565,14916,8328,14804,8009,14688,7614,14569,7287,14448,6888,14321,6483,14088,6171,15350,7402,15350,7419,15347,7480,15340,7613,15322,7804,15287,7973,15229,8057,15148,8012,15046,7846,14933,7611,14810,7357,14682,7069,14552,6656,14421,6316,14251,5948,14007,5528,15356,5942,15356,5977,15353,6119,15348,6294,15332,6551,15302,6824,15249,7044,15171,7122,15070,7050,14949,6861,14818,6611,14679,6349,14538,6067,14398,5651,14189,5311,13935,4958,15359,4123,15359,4153,15356,4296,15353,4646,15338,5160,15311,5508,15263,5829,15188,6042,15088,6094,14966,6001,14826,5796,14678,5543,14527,5287,14377,4985,14133,4586,13869,4257,15360,1563,15360,1642,15358,2076,15354,2636,15341,3350,15317,4019,15273,4429,15203,4732,15105,4911,14981,4932,14836,4818,14679,4621,14517,4386,14359,4156,14083,3795,13808,3437,15360,122,15360,137,15358,285,15355,636,15344,1274,15322,2177,15281,2765,15215,3223,15120,3451,14995,3569,14846,3567,14681,3466,14511,3305,14344,3121,14037,2800,13753,2467,15360,0,15360,1,15359,21,15355,89,15346,253,15325,479,15287,796,15225,1148,15133,1492,15008,1749,14856,1882,14685,1886,14506,1783,14324,1608,13996,1398,13702,1183]),Qv=null;function $v(){return Qv===null&&(Qv=new bp(Zv,16,16,al,Kc),Qv.name=`DFG_LUT`,Qv.minFilter=Ic,Qv.magFilter=Ic,Qv.wrapS=jc,Qv.wrapT=jc,Qv.generateMipmaps=!1,Qv.needsUpdate=!0),Qv}var ey=class{constructor(e={}){let{canvas:t=cu(),context:n=null,depth:r=!0,stencil:i=!1,alpha:a=!1,antialias:o=!1,premultipliedAlpha:s=!0,preserveDrawingBuffer:c=!1,powerPreference:l=`default`,failIfMajorPerformanceCaveat:u=!1,reversedDepthBuffer:d=!1,outputBufferType:f=zc}=e;this.isWebGLRenderer=!0;let p;if(n!==null){if(typeof WebGLRenderingContext<`u`&&n instanceof WebGLRenderingContext)throw Error(`THREE.WebGLRenderer: WebGL 1 is not supported since r163.`);p=n.getContextAttributes().alpha}else p=a;let m=f,h=new Set([sl,ol,il]),g=new Set([zc,Wc,Hc,Yc,qc,Jc]),_=new Uint32Array(4),v=new Int32Array(4),y={textures:[],min:[],max:[],resolution:[]},b=null,x=null,S=[],C=[],w=null;this.domElement=t,this.debug={checkShaderErrors:!0,diagnostics:{keywords:!1},onShaderError:null},this.autoClear=!0,this.autoClearColor=!0,this.autoClearDepth=!0,this.autoClearStencil=!0,this.sortObjects=!0,this.clippingPlanes=[],this.localClippingEnabled=!1,this.toneMapping=0,this.toneMappingExposure=1,this.transmissionResolutionScale=1;let T=this,E=!1,D=null,O=null,k=null,A=null;this._outputColorSpace=Ql;let j=0,ee=0,M=null,te=-1,ne=null,re=new sd,ie=new sd,ae=null,oe=new Z(0),se=0,ce=t.width,le=t.height,N=1,ue=null,de=null,fe=new sd(0,0,ce,le),pe=new sd(0,0,ce,le),me=!1,he=new Np,ge=new Fp,_e=!1,ve=!1,ye=new fd,be=new Y,xe=new sd,Se={background:null,fog:null,environment:null,overrideMaterial:null,isScene:!0},Ce=!1;function we(){return M===null?N:1}let P=n;function Te(e,n){return t.getContext(e,n)}let Ee,De,F,I,L,R,Oe,ke,Ae,je,Me,Ne,z,Pe,Fe,Ie,Le,Re,ze,Be,Ve,He,B;try{let e={alpha:!0,depth:r,stencil:i,antialias:o,premultipliedAlpha:s,preserveDrawingBuffer:c,powerPreference:l,failIfMajorPerformanceCaveat:u};if(`setAttribute`in t&&t.setAttribute(`data-engine`,`three.js r187`),t.addEventListener(`webglcontextlost`,Ge,!1),t.addEventListener(`webglcontextrestored`,Ke,!1),t.addEventListener(`webglcontextcreationerror`,qe,!1),P===null){let t=`webgl2`;if(P=Te(t,e),P===null)throw Te(t)?Error(`THREE.WebGLRenderer: Error creating WebGL context with your selected attributes.`):Error(`THREE.WebGLRenderer: Error creating WebGL context.`)}Ue()}catch(e){throw t.removeEventListener(`webglcontextlost`,Ge,!1),t.removeEventListener(`webglcontextrestored`,Ke,!1),t.removeEventListener(`webglcontextcreationerror`,qe,!1),K(`WebGLRenderer: `+e.message),e}function Ue(){Ee=new bg(P),Ee.init(),Ve=new Hv(P,Ee),De=new eg(P,Ee,e,Ve),F=new Bv(P,Ee),De.reversedDepthBuffer&&d&&F.buffers.depth.setReversed(!0),O=P.createFramebuffer(),k=P.createFramebuffer(),A=P.createFramebuffer(),I=new Cg(P),L=new bv,R=new Vv(P,Ee,F,L,De,Ve,I),Oe=new yg(T),ke=new Kh(P),He=new Qh(P,ke),Ae=new xg(P,ke,I,He),je=new Tg(P,Ae,ke,He,I),Re=new wg(P,De,R),Fe=new tg(L),Me=new yv(T,Oe,Ee,De,He,Fe),Ne=new Yv(T,L),z=new wv,Pe=new jv(Ee),Le=new Zh(T,Oe,F,je,p,s),Ie=new zv(T,je,De),B=new Xv(P,I,De,F),ze=new $h(P,Ee,I),Be=new Sg(P,Ee,I),I.programs=Me.programs,T.capabilities=De,T.extensions=Ee,T.properties=L,T.renderLists=z,T.shadowMap=Ie,T.state=F,T.info=I}m!==1009&&(w=new Dg(m,t.width,t.height,o,r,i));let We=new Kv(T,P);this.xr=We,this.getContext=function(){return P},this.getContextAttributes=function(){return P.getContextAttributes()},this.forceContextLoss=function(){let e=Ee.get(`WEBGL_lose_context`);e&&e.loseContext()},this.forceContextRestore=function(){let e=Ee.get(`WEBGL_lose_context`);e&&e.restoreContext()},this.getPixelRatio=function(){return N},this.setPixelRatio=function(e){e!==void 0&&(N=e,this.setSize(ce,le,!1))},this.getSize=function(e){return e.set(ce,le)},this.setSize=function(e,n,r=!0){We.isPresenting?G(`WebGLRenderer: Can't change size while VR device is presenting.`):(ce=e,le=n,t.width=Math.floor(e*N),t.height=Math.floor(n*N),r===!0&&(t.style.width=e+`px`,t.style.height=n+`px`),w!==null&&w.setSize(t.width,t.height),this.setViewport(0,0,e,n))},this.getDrawingBufferSize=function(e){return e.set(ce*N,le*N).floor()},this.setDrawingBufferSize=function(e,n,r){ce=e,le=n,N=r,t.width=Math.floor(e*r),t.height=Math.floor(n*r),this.setViewport(0,0,e,n)},this.setEffects=function(e){if(m===1009)K(`WebGLRenderer: setEffects() requires outputBufferType set to HalfFloatType or FloatType.`);else{if(e){for(let t=0;t<e.length;t++)if(e[t].isOutputPass===!0){G(`WebGLRenderer: OutputPass is not needed in setEffects(). Tone mapping and color space conversion are applied automatically.`);break}}w.setEffects(e||[])}},this.getCurrentViewport=function(e){return e.copy(re)},this.getViewport=function(e){return e.copy(fe)},this.setViewport=function(e,t,n,r){e.isVector4?fe.set(e.x,e.y,e.z,e.w):fe.set(e,t,n,r),F.viewport(re.copy(fe).multiplyScalar(we()).round())},this.getScissor=function(e){return e.copy(pe)},this.setScissor=function(e,t,n,r){e.isVector4?pe.set(e.x,e.y,e.z,e.w):pe.set(e,t,n,r),F.scissor(ie.copy(pe).multiplyScalar(we()).round())},this.getScissorTest=function(){return me},this.setScissorTest=function(e){F.setScissorTest(me=e)},this.setOpaqueSort=function(e){ue=e},this.setTransparentSort=function(e){de=e},this.getClearColor=function(e){return e.copy(Le.getClearColor())},this.setClearColor=function(){Le.setClearColor(...arguments)},this.getClearAlpha=function(){return Le.getClearAlpha()},this.setClearAlpha=function(){Le.setClearAlpha(...arguments)},this.clear=function(e=!0,t=!0,n=!0){let r=0;if(e){let e=!1;if(M!==null){let t=M.texture.format;e=h.has(t)}if(e){let e=M.texture.type,t=g.has(e),n=Le.getClearColor(),r=Le.getClearAlpha(),i=n.r,a=n.g,o=n.b;t?(_[0]=i,_[1]=a,_[2]=o,_[3]=r,P.clearBufferuiv(P.COLOR,0,_)):(v[0]=i,v[1]=a,v[2]=o,v[3]=r,P.clearBufferiv(P.COLOR,0,v))}else r|=P.COLOR_BUFFER_BIT}t&&(r|=P.DEPTH_BUFFER_BIT,this.state.buffers.depth.setMask(!0)),n&&(r|=P.STENCIL_BUFFER_BIT,this.state.buffers.stencil.setMask(4294967295)),r!==0&&P.clear(r)},this.clearColor=function(){this.clear(!0,!1,!1)},this.clearDepth=function(){this.clear(!1,!0,!1)},this.clearStencil=function(){this.clear(!1,!1,!0)},this.setNodesHandler=function(e){e.setRenderer(this),D=e},this.dispose=function(){t.removeEventListener(`webglcontextlost`,Ge,!1),t.removeEventListener(`webglcontextrestored`,Ke,!1),t.removeEventListener(`webglcontextcreationerror`,qe,!1),Le.dispose(),z.dispose(),Pe.dispose(),R.dispose(),L.dispose(),Oe.dispose(),je.dispose(),Ae.dispose(),He.dispose(),B.dispose(),Me.dispose(),We.dispose(),We.removeEventListener(`sessionstart`,et),We.removeEventListener(`sessionend`,tt),nt.stop()};function Ge(e){e.preventDefault(),uu(`WebGLRenderer: Context Lost.`),E=!0}function Ke(){uu(`WebGLRenderer: Context Restored.`),E=!1;let e=I.autoReset,t=Ie.enabled,n=Ie.autoUpdate,r=Ie.needsUpdate,i=Ie.type;Ue(),I.autoReset=e,Ie.enabled=t,Ie.autoUpdate=n,Ie.needsUpdate=r,Ie.type=i}function qe(e){K(`WebGLRenderer: A WebGL context could not be created. Reason: `,e.statusMessage)}function Je(e){let t=e.target;t.removeEventListener(`dispose`,Je),Ye(t)}function Ye(e){Xe(e),L.remove(e)}function Xe(e){let t=L.get(e).programs;t!==void 0&&(t.forEach(function(e){Me.releaseProgram(e)}),e.isShaderMaterial&&Me.releaseShaderCache(e))}this.renderBufferDirect=function(e,t,n,r,i,a){t===null&&(t=Se);let o=i.isMesh&&i.matrixWorld.determinantAffine()<0,s=pt(e,t,n,r,i);F.setMaterial(r,o);let c=n.index,l=1;if(r.wireframe===!0){if(c=Ae.getWireframeAttribute(n),c===void 0)return;l=2}let u=n.drawRange,d=n.attributes.position,f=u.start*l,p=(u.start+u.count)*l;a!==null&&(f=Math.max(f,a.start*l),p=Math.min(p,(a.start+a.count)*l)),c===null?d!=null&&(f=Math.max(f,0),p=Math.min(p,d.count)):(f=Math.max(f,0),p=Math.min(p,c.count));let m=p-f;if(m<0||m===1/0)return;He.setup(i,r,s,n,c);let h,g=ze;if(c!==null&&(h=ke.get(c),g=Be,g.setIndex(h)),i.isMesh)r.wireframe===!0?(F.setLineWidth(r.wireframeLinewidth*we()),g.setMode(P.LINES)):g.setMode(P.TRIANGLES);else if(i.isLine){let e=r.linewidth;e===void 0&&(e=1),F.setLineWidth(e*we()),i.isLineSegments?g.setMode(P.LINES):i.isLineLoop?g.setMode(P.LINE_LOOP):g.setMode(P.LINE_STRIP)}else i.isPoints?g.setMode(P.POINTS):i.isSprite&&g.setMode(P.TRIANGLES);if(i.isBatchedMesh){if(Ee.get(`WEBGL_multi_draw`))g.renderMultiDraw(i._multiDrawStarts,i._multiDrawCounts,i._multiDrawCount);else{let e=i._multiDrawStarts,t=i._multiDrawCounts,n=i._multiDrawCount,a=c?ke.get(c).bytesPerElement:1,o=L.get(r).currentProgram.getUniforms();for(let r=0;r<n;r++)o.setValue(P,`_gl_DrawID`,r),g.render(e[r]/a,t[r])}}else if(i.isInstancedMesh)g.renderInstances(f,m,i.count);else if(n.isInstancedBufferGeometry){let e=n._maxInstanceCount===void 0?1/0:n._maxInstanceCount,t=Math.min(n.instanceCount,e);g.renderInstances(f,m,t)}else g.render(f,m)};function Ze(e,t,n,r){D!==null&&e.isNodeMaterial&&D.setObject(r,e),_e===!0&&Fe.setState(e,n,!1),e.transparent===!0&&e.side===2&&e.forceSinglePass===!1?(e.side=1,e.needsUpdate=!0,lt(e,t,r),e.side=0,e.needsUpdate=!0,lt(e,t,r),e.side=2):lt(e,t,r)}this.compile=function(e,t,n=null){n===null&&(n=e),D!==null&&D.renderStart(e,t,n),x=Pe.get(n),x.init(t),C.push(x),n.traverseVisible(function(e){e.isLight&&e.layers.test(t.layers)&&(x.pushLight(e),e.castShadow&&x.pushShadow(e))}),e!==n&&e.traverseVisible(function(e){e.isLight&&e.layers.test(t.layers)&&(x.pushLight(e),e.castShadow&&x.pushShadow(e))}),x.setupLights(),D!==null&&D.updateLights(x.state.lightsArray),ve=this.localClippingEnabled,_e=Fe.init(this.clippingPlanes,ve),_e===!0&&Fe.setGlobalState(this.clippingPlanes,t),D!==null&&Ie.render(x.state.shadowsArray,n,t);let r=new Set;return e.traverse(function(e){if(!(e.isMesh||e.isPoints||e.isLine||e.isSprite))return;let i=e.material;if(i){if(Array.isArray(i))for(let a=0;a<i.length;a++){let o=i[a];Ze(o,n,t,e),r.add(o)}else Ze(i,n,t,e),r.add(i)}}),x=C.pop(),D!==null&&D.renderEnd(),r},this.compileAsync=function(e,t,n=null){let r=this.compile(e,t,n);return new Promise(t=>{function n(){r.forEach(function(e){let t=L.get(e).currentProgram;(t===void 0||t.isReady())&&r.delete(e)}),r.size===0?t(e):setTimeout(n,10)}Ee.get(`KHR_parallel_shader_compile`)===null?setTimeout(n,10):n()})};let Qe=null;function $e(e){Qe&&Qe(e)}function et(){nt.stop()}function tt(){nt.start()}let nt=new Gh;nt.setAnimationLoop($e),typeof self<`u`&&nt.setContext(self),this.setAnimationLoop=function(e){Qe=e,We.setAnimationLoop(e),e===null?nt.stop():nt.start()},We.addEventListener(`sessionstart`,et),We.addEventListener(`sessionend`,tt),this.render=function(e,t){if(t!==void 0&&t.isCamera!==!0){K(`WebGLRenderer.render: camera is not an instance of THREE.Camera.`);return}if(E===!0)return;D!==null&&D.renderStart(e,t);let n=We.enabled===!0&&We.isPresenting===!0,r=w!==null&&(M===null||n)&&w.begin(T,M);if(e.matrixWorldAutoUpdate===!0&&e.updateMatrixWorld(),t.parent===null&&t.matrixWorldAutoUpdate===!0&&t.updateMatrixWorld(),We.enabled===!0&&We.isPresenting===!0&&(w===null||w.isCompositing()===!1)&&(We.cameraAutoUpdate===!0&&We.updateCamera(t),t=We.getCamera()),e.isScene===!0&&e.onBeforeRender(T,e,t,M),x=Pe.get(e,C.length),x.init(t),x.state.textureUnits=R.getTextureUnits(),C.push(x),ye.multiplyMatrices(t.projectionMatrix,t.matrixWorldInverse),t.isArrayCamera?ge.setFromArrayCamera(t):he.setFromProjectionMatrix(ye,iu,t.reversedDepth),ve=this.localClippingEnabled,_e=Fe.init(this.clippingPlanes,ve),b=z.get(e,S.length),b.init(),S.push(b),this.info.render.frame++,We.enabled===!0&&We.isPresenting===!0){let e=T.xr.getDepthSensingMesh();e!==null&&rt(e,t,-1/0,T.sortObjects)}rt(e,t,0,T.sortObjects),b.finish(),D!==null&&D.updateLights(x.state.lightsArray),T.sortObjects===!0&&b.sort(ue,de),Ce=We.enabled===!1||We.isPresenting===!1||We.hasDepthSensing()===!1,Ce&&Le.addToRenderList(b,e),this.info.autoReset===!0&&this.info.reset(),_e===!0&&Fe.beginShadows();let i=x.state.shadowsArray;if(Ie.render(i,e,t),_e===!0&&Fe.endShadows(),(r&&w.hasRenderPass())===!1){let n=b.opaque,r=b.transmissive;if(x.setupLights(),t.isArrayCamera){let i=t.cameras;if(r.length>0)for(let t=0,a=i.length;t<a;t++){let a=i[t];at(n,r,e,a)}Ce&&Le.render(e);for(let t=0,n=i.length;t<n;t++){let n=i[t];it(b,e,n,n.viewport)}}else r.length>0&&at(n,r,e,t),Ce&&Le.render(e),it(b,e,t)}M!==null&&ee===0&&(R.updateMultisampleRenderTarget(M),R.updateRenderTargetMipmap(M)),r&&w.end(T),e.isScene===!0&&e.onAfterRender(T,e,t),He.resetDefaultState(),te=-1,ne=null,C.pop(),C.length>0?(x=C[C.length-1],R.setTextureUnits(x.state.textureUnits),_e===!0&&Fe.setGlobalState(T.clippingPlanes,x.state.camera)):x=null,S.pop(),b=S.length>0?S[S.length-1]:null,D!==null&&D.renderEnd()};function rt(e,t,n,r){if(e.visible===!1)return;if(e.layers.test(t.layers)){if(e.isGroup)n=e.renderOrder;else if(e.isLOD)e.autoUpdate===!0&&e.update(t);else if(e.isLight)x.pushLight(e),e.castShadow&&x.pushShadow(e);else if(e.isSprite){let i=t.isArrayCamera?ge:he;if(!e.frustumCulled||e.intersectsFrustum(i)){r&&xe.setFromMatrixPosition(e.matrixWorld).applyMatrix4(ye);let i=je.update(e),a=e.material;a.visible&&b.push(e,i,a,n,xe.z,null,t)}}else if(e.isMesh||e.isLine||e.isPoints){let i=t.isArrayCamera?ge:he;if(!e.frustumCulled||e.intersectsFrustum(i)){let i=je.update(e),a=e.material;if(r&&(e.boundingSphere===void 0?(i.boundingSphere===null&&i.computeBoundingSphere(),xe.copy(i.boundingSphere.center)):(e.boundingSphere===null&&e.computeBoundingSphere(),xe.copy(e.boundingSphere.center)),xe.applyMatrix4(e.matrixWorld).applyMatrix4(ye)),Array.isArray(a)){let r=i.groups;for(let o=0,s=r.length;o<s;o++){let s=r[o],c=a[s.materialIndex];c&&c.visible&&b.push(e,i,c,n,xe.z,s,t)}}else a.visible&&b.push(e,i,a,n,xe.z,null,t)}}}let i=e.children;for(let e=0,a=i.length;e<a;e++)rt(i[e],t,n,r)}function it(e,t,n,r){let{opaque:i,transmissive:a,transparent:o}=e;x.setupLightsView(n),_e===!0&&Fe.setGlobalState(T.clippingPlanes,n),r&&F.viewport(re.copy(r)),i.length>0&&ot(i,t,n),a.length>0&&ot(a,t,n),o.length>0&&ot(o,t,n),F.buffers.depth.setTest(!0),F.buffers.depth.setMask(!0),F.buffers.color.setMask(!0),F.setPolygonOffset(!1)}function at(e,t,n,r){if((n.isScene===!0?n.overrideMaterial:null)!==null)return;if(x.state.transmissionRenderTarget[r.id]===void 0){let e=Ee.has(`EXT_color_buffer_half_float`)||Ee.has(`EXT_color_buffer_float`);x.state.transmissionRenderTarget[r.id]=new ld(1,1,{generateMipmaps:!0,type:e?Kc:zc,minFilter:Rc,samples:Math.max(4,De.samples),stencilBuffer:i,resolveDepthBuffer:!1,resolveStencilBuffer:!1,storeMultisampledDepthBuffer:!1,storeMultisampledStencilBuffer:!1,colorSpace:Xu.workingColorSpace})}let a=x.state.transmissionRenderTarget[r.id],o=r.viewport||re;a.setSize(o.z*T.transmissionResolutionScale,o.w*T.transmissionResolutionScale);let s=T.getRenderTarget(),c=T.getActiveCubeFace(),l=T.getActiveMipmapLevel();T.setRenderTarget(a),T.getClearColor(oe),se=T.getClearAlpha(),se<1&&T.setClearColor(16777215,.5),T.clear(),Ce&&Le.render(n);let u=T.toneMapping;T.toneMapping=0;let d=r.viewport;if(r.viewport!==void 0&&(r.viewport=void 0),x.setupLightsView(r),_e===!0&&Fe.setGlobalState(T.clippingPlanes,r),ot(e,n,r),R.updateMultisampleRenderTarget(a),R.updateRenderTargetMipmap(a),Ee.has(`WEBGL_multisampled_render_to_texture`)===!1){let e=!1;for(let i=0,a=t.length;i<a;i++){let{object:a,geometry:o,material:s,group:c}=t[i];if(s.side===2&&a.layers.test(r.layers)){let t=s.side;s.side=1,s.needsUpdate=!0,st(a,n,r,o,s,c),s.side=t,s.needsUpdate=!0,e=!0}}e===!0&&(R.updateMultisampleRenderTarget(a),R.updateRenderTargetMipmap(a))}T.setRenderTarget(s,c,l),T.setClearColor(oe,se),d!==void 0&&(r.viewport=d),T.toneMapping=u}function ot(e,t,n){let r=t.isScene===!0?t.overrideMaterial:null;for(let i=0,a=e.length;i<a;i++){let a=e[i],{object:o,geometry:s,group:c}=a,l=a.material;l.allowOverride===!0&&r!==null&&(l=r),o.layers.test(n.layers)&&st(o,t,n,s,l,c)}}function st(e,t,n,r,i,a){D!==null&&i.isNodeMaterial&&D.setObject(e,i),e.onBeforeRender(T,t,n,r,i,a),e.modelViewMatrix.multiplyMatrices(n.matrixWorldInverse,e.matrixWorld),e.normalMatrix.getNormalMatrix(e.modelViewMatrix),i.onBeforeRender(T,t,n,r,e,a),i.transparent===!0&&i.side===2&&i.forceSinglePass===!1?(i.side=1,i.needsUpdate=!0,T.renderBufferDirect(n,t,r,i,e,a),i.side=0,i.needsUpdate=!0,T.renderBufferDirect(n,t,r,i,e,a),i.side=2):T.renderBufferDirect(n,t,r,i,e,a),e.onAfterRender(T,t,n,r,i,a)}function ct(e){let t=0;for(let n of e)n.texture!==null&&t++;return t}function lt(e,t,n){t.isScene!==!0&&(t=Se);let r=L.get(e),i=x.state.lights,a=x.state.shadowsArray,o=i.state.version,s=Me.getParameters(e,i.state,a,t,n,x.state.lightProbeGridArray),c=Me.getProgramCacheKey(s),l=r.programs;r.environment=e.isMeshStandardMaterial||e.isMeshLambertMaterial||e.isMeshPhongMaterial?t.environment:null,r.fog=t.fog;let u=e.isMeshStandardMaterial||e.isMeshLambertMaterial&&!e.envMap||e.isMeshPhongMaterial&&!e.envMap;r.envMap=Oe.get(e.envMap||r.environment,u),r.envMapRotation=r.environment!==null&&e.envMap===null?t.environmentRotation:e.envMapRotation,l===void 0&&(e.addEventListener(`dispose`,Je),l=new Map,r.programs=l,r.programVariants=new Map);let d=l.get(c);if(d!==void 0){if(r.currentProgram===d&&r.lightsStateVersion===o)return ft(e,s),d}else s.uniforms=Me.getUniforms(e),D!==null&&e.isNodeMaterial&&D.build(e,n,s),e.onBeforeCompile(s,T),d=Me.acquireProgram(s,c),l.set(c,d),r.uniforms=s.uniforms;let f=r.uniforms;return(!e.isShaderMaterial&&!e.isRawShaderMaterial||e.clipping===!0)&&(f.clippingPlanes=Fe.uniform),ft(e,s),r.needsLights=ht(e),r.lightsStateVersion=o,r.needsLights&&(f.ambientLightColor.value=i.state.ambient,f.lightProbe.value=i.state.probe,f.sunLights.value=i.state.sun,f.sunLightShadows.value=i.state.sunShadow,f.directionalLights.value=i.state.directional,f.directionalLightShadows.value=i.state.directionalShadow,f.spotLights.value=i.state.spot,f.spotLightShadows.value=i.state.spotShadow,f.rectAreaLights.value=i.state.rectArea,f.ltc_1.value=i.state.rectAreaLTC1,f.ltc_2.value=i.state.rectAreaLTC2,f.pointLights.value=i.state.point,f.pointLightShadows.value=i.state.pointShadow,f.hemisphereLights.value=i.state.hemi,f.sunShadowMatrix.value=i.state.sunShadowMatrix,f.sunShadowCascade.value=i.state.sunShadowCascade,f.directionalShadowMatrix.value=i.state.directionalShadowMatrix,f.spotLightMatrix.value=i.state.spotLightMatrix,f.spotLightMap.value=i.state.spotLightMap,f.pointShadowMatrix.value=i.state.pointShadowMatrix),r.numLightProbeGrids=ct(x.state.lightProbeGridArray),r.currentProgram=d,r.uniformsList=null,d}function ut(e,t,n,r,i){let a=L.get(e),o=a.currentProgram.id+`,`+r+`,`+i,s=a.programVariants.get(o);return s===void 0?(s=lt(e,t,n),a.programVariants.set(o,s)):(a.currentProgram=s,a.uniformsList=null,a.outputColorSpace=r,a.toneMapping=i),s}function dt(e){if(e.uniformsList===null){let t=e.currentProgram.getUniforms();e.uniformsList=I_.seqWithValue(t.seq,e.uniforms)}return e.uniformsList}function ft(e,t){let n=L.get(e);n.outputColorSpace=t.outputColorSpace,n.batching=t.batching,n.batchingColor=t.batchingColor,n.instancing=t.instancing,n.instancingColor=t.instancingColor,n.instancingMorph=t.instancingMorph,n.skinning=t.skinning,n.morphTargets=t.morphTargets,n.morphNormals=t.morphNormals,n.morphColors=t.morphColors,n.morphTargetsCount=t.morphTargetsCount,n.numClippingPlanes=t.numClippingPlanes,n.numIntersection=t.numClipIntersection,n.vertexAlphas=t.vertexAlphas,n.vertexTangents=t.vertexTangents,n.toneMapping=t.toneMapping}function pt(e,t,n,r,i){t.isScene!==!0&&(t=Se),R.resetTextureUnits();let a=t.fog,o=r.isMeshStandardMaterial||r.isMeshLambertMaterial||r.isMeshPhongMaterial?t.environment:null,s=M===null?T.outputColorSpace:M.isXRRenderTarget===!0?M.texture.colorSpace:Xu.workingColorSpace,c=r.isMeshStandardMaterial||r.isMeshLambertMaterial&&!r.envMap||r.isMeshPhongMaterial&&!r.envMap,l=Oe.get(r.envMap||o,c),u=r.vertexColors===!0&&!!n.attributes.color&&n.attributes.color.itemSize===4,d=!!n.attributes.tangent&&(!!r.normalMap||r.anisotropy>0),f=!!n.morphAttributes.position,p=!!n.morphAttributes.normal,m=!!n.morphAttributes.color,h=0;r.toneMapped&&(M===null||M.isXRRenderTarget===!0)&&(h=T.toneMapping);let g=n.morphAttributes.position||n.morphAttributes.normal||n.morphAttributes.color,_=g===void 0?0:g.length,v=L.get(r),b=x.state.lights;if(_e===!0&&(ve===!0||e!==ne)){let t=e===ne&&r.id===te;Fe.setState(r,e,t)}let S=!1,C=!1;r.version===v.__version?v.needsLights&&v.lightsStateVersion!==b.state.version||i.isBatchedMesh&&v.batching===!1||!i.isBatchedMesh&&v.batching===!0||i.isBatchedMesh&&v.batchingColor===!0&&i._colorsTexture===null||i.isBatchedMesh&&v.batchingColor===!1&&i._colorsTexture!==null||i.isInstancedMesh&&v.instancing===!1||!i.isInstancedMesh&&v.instancing===!0||i.isSkinnedMesh&&v.skinning===!1||!i.isSkinnedMesh&&v.skinning===!0||i.isInstancedMesh&&v.instancingColor===!0&&i.instanceColor===null||i.isInstancedMesh&&v.instancingColor===!1&&i.instanceColor!==null||i.isInstancedMesh&&v.instancingMorph===!0&&i.morphTexture===null||i.isInstancedMesh&&v.instancingMorph===!1&&i.morphTexture!==null?S=!0:v.envMap===l?r.fog===!0&&v.fog!==a||v.numClippingPlanes!==void 0&&(v.numClippingPlanes!==Fe.numPlanes||v.numIntersection!==Fe.numIntersection)?S=!0:v.vertexAlphas===u&&v.vertexTangents===d&&v.morphTargets===f&&v.morphNormals===p&&v.morphColors===m&&v.morphTargetsCount===_&&v.numLightProbeGrids===ct(x.state.lightProbeGridArray)?(v.outputColorSpace!==s||v.toneMapping!==h)&&(C=!0):S=!0:S=!0:(S=!0,v.__version=r.version);let w=v.currentProgram;(S===!0||C===!0)&&(w=C===!0?ut(r,t,i,s,h):lt(r,t,i),D&&r.isNodeMaterial&&D.onUpdateProgram(r,w,v));let E=!1,O=!1,k=!1,A=w.getUniforms(),j=v.uniforms;if(F.useProgram(w.program)&&(E=!0,O=!0,k=!0),r.id!==te&&(te=r.id,O=!0),E||ne!==e){F.buffers.depth.getReversed()&&e.reversedDepth!==!0&&(e._reversedDepth=!0,e.updateProjectionMatrix()),A.setValue(P,`projectionMatrix`,e.projectionMatrix),A.setValue(P,`viewMatrix`,e.matrixWorldInverse);let t=A.map.cameraPosition;t!==void 0&&t.setValue(P,be.setFromMatrixPosition(e.matrixWorld)),De.logarithmicDepthBuffer&&A.setValue(P,`logDepthBufFC`,2/(Math.log(e.far+1)/Math.LN2)),(r.isMeshPhongMaterial||r.isMeshToonMaterial||r.isMeshLambertMaterial||r.isMeshBasicMaterial||r.isMeshStandardMaterial||r.isShaderMaterial)&&A.setValue(P,`isOrthographic`,e.isOrthographicCamera===!0),ne!==e&&(ne=e,O=!0,k=!0)}if(v.needsLights&&(b.state.sunShadowMap.length>0&&A.setValue(P,`sunShadowMap`,b.state.sunShadowMap,R),b.state.directionalShadowMap.length>0&&A.setValue(P,`directionalShadowMap`,b.state.directionalShadowMap,R),b.state.spotShadowMap.length>0&&A.setValue(P,`spotShadowMap`,b.state.spotShadowMap,R),b.state.pointShadowMap.length>0&&A.setValue(P,`pointShadowMap`,b.state.pointShadowMap,R)),i.isSkinnedMesh){A.setOptional(P,i,`bindMatrix`),A.setOptional(P,i,`bindMatrixInverse`);let e=i.skeleton;e&&(e.boneTexture===null&&e.computeBoneTexture(),A.setValue(P,`boneTexture`,e.boneTexture,R))}i.isBatchedMesh&&(A.setOptional(P,i,`batchingTexture`),A.setValue(P,`batchingTexture`,i._matricesTexture,R),A.setOptional(P,i,`batchingIdTexture`),A.setValue(P,`batchingIdTexture`,i._indirectTexture,R),A.setOptional(P,i,`batchingColorTexture`),i._colorsTexture!==null&&A.setValue(P,`batchingColorTexture`,i._colorsTexture,R));let ee=n.morphAttributes;if((ee.position!==void 0||ee.normal!==void 0||ee.color!==void 0)&&Re.update(i,n,w),(O||v.receiveShadow!==i.receiveShadow)&&(v.receiveShadow=i.receiveShadow,A.setValue(P,`receiveShadow`,i.receiveShadow)),(r.isMeshStandardMaterial||r.isMeshLambertMaterial||r.isMeshPhongMaterial)&&r.envMap===null&&t.environment!==null&&(j.envMapIntensity.value=t.environmentIntensity),j.dfgLUT!==void 0&&(j.dfgLUT.value=$v()),O){if(A.setValue(P,`toneMappingExposure`,T.toneMappingExposure),v.needsLights&&mt(j,k),a&&r.fog===!0&&Ne.refreshFogUniforms(j,a),Ne.refreshMaterialUniforms(j,r,N,le,x.state.transmissionRenderTarget[e.id]),v.needsLights&&v.numLightProbeGrids>0){let e=y,t=0;for(let n of x.state.lightProbeGridArray)n.texture!==null&&(e.textures[t]=n.texture,e.min[t]=n.boundingBox.min,e.max[t]=n.boundingBox.max,e.resolution[t]=n.resolution,t++);for(let n in e)e[n].length=t;j.probesSH.value=e.textures,j.probesMin.value=e.min,j.probesMax.value=e.max,j.probesResolution.value=e.resolution}I_.upload(P,dt(v),j,R)}if(r.isShaderMaterial&&r.uniformsNeedUpdate===!0&&(I_.upload(P,dt(v),j,R),r.uniformsNeedUpdate=!1),r.isSpriteMaterial&&A.setValue(P,`center`,i.center),A.setValue(P,`modelViewMatrix`,i.modelViewMatrix),A.setValue(P,`normalMatrix`,i.normalMatrix),A.setValue(P,`modelMatrix`,i.matrixWorld),r.uniformsGroups!==void 0){let e=r.uniformsGroups;for(let t=0,n=e.length;t<n;t++){let n=e[t];B.update(n,w),B.bind(n,w)}}return w}function mt(e,t){e.ambientLightColor.needsUpdate=t,e.lightProbe.needsUpdate=t,e.sunLights.needsUpdate=t,e.sunLightShadows.needsUpdate=t,e.directionalLights.needsUpdate=t,e.directionalLightShadows.needsUpdate=t,e.pointLights.needsUpdate=t,e.pointLightShadows.needsUpdate=t,e.spotLights.needsUpdate=t,e.spotLightShadows.needsUpdate=t,e.rectAreaLights.needsUpdate=t,e.hemisphereLights.needsUpdate=t}function ht(e){return e.isMeshLambertMaterial||e.isMeshToonMaterial||e.isMeshPhongMaterial||e.isMeshStandardMaterial||e.isShadowMaterial||e.isShaderMaterial&&e.lights===!0}this.getActiveCubeFace=function(){return j},this.getActiveMipmapLevel=function(){return ee},this.getRenderTarget=function(){return M},this.setRenderTargetTextures=function(e,t,n){let r=L.get(e);r.__autoAllocateDepthBuffer=e.resolveDepthBuffer===!1,r.__autoAllocateDepthBuffer===!1&&(r.__useRenderToTexture=!1),L.get(e.texture).__webglTexture=t,L.get(e.depthTexture).__webglTexture=r.__autoAllocateDepthBuffer?void 0:n,r.__hasExternalTextures=!0},this.setRenderTargetFramebuffer=function(e,t){let n=L.get(e);n.__webglFramebuffer=t,n.__useDefaultFramebuffer=t===void 0},this.setRenderTarget=function(e,t=0,n=0){M=e,j=t,ee=n;let r=null,i=!1,a=!1;if(e){let o=L.get(e);if(o.__useDefaultFramebuffer!==void 0){F.bindFramebuffer(P.FRAMEBUFFER,o.__webglFramebuffer),re.copy(e.viewport),ie.copy(e.scissor),ae=e.scissorTest,F.viewport(re),F.scissor(ie),F.setScissorTest(ae),te=-1;return}if(o.__webglFramebuffer===void 0)R.setupRenderTarget(e);else if(o.__hasExternalTextures)R.rebindTextures(e,L.get(e.texture).__webglTexture,L.get(e.depthTexture).__webglTexture);else if(e.depthBuffer){let t=e.depthTexture;if(o.__boundDepthTexture!==t){if(t!==null&&L.has(t)&&(e.width!==t.image.width||e.height!==t.image.height))throw Error(`THREE.WebGLRenderer: Attached DepthTexture is initialized to the incorrect size.`);R.setupDepthRenderbuffer(e)}}let s=e.texture;(s.isData3DTexture||s.isDataArrayTexture||s.isCompressedArrayTexture)&&(a=!0);let c=L.get(e).__webglFramebuffer;e.isWebGLCubeRenderTarget?(r=Array.isArray(c[t])?c[t][n]:c[t],i=!0):r=e.samples>0&&R.useMultisampledRTT(e)===!1?L.get(e).__webglMultisampledFramebuffer:Array.isArray(c)?c[n]:c,re.copy(e.viewport),ie.copy(e.scissor),ae=e.scissorTest}else re.copy(fe).multiplyScalar(N).floor(),ie.copy(pe).multiplyScalar(N).floor(),ae=me;if(n!==0&&(r=O),F.bindFramebuffer(P.FRAMEBUFFER,r)&&F.drawBuffers(e,r),F.viewport(re),F.scissor(ie),F.setScissorTest(ae),i){let r=L.get(e.texture);P.framebufferTexture2D(P.FRAMEBUFFER,P.COLOR_ATTACHMENT0,P.TEXTURE_CUBE_MAP_POSITIVE_X+t,r.__webglTexture,n)}else if(a){let r=t;for(let t=0;t<e.textures.length;t++){let i=L.get(e.textures[t]);P.framebufferTextureLayer(P.FRAMEBUFFER,P.COLOR_ATTACHMENT0+t,i.__webglTexture,n,r)}}else if(e!==null&&n!==0){let t=L.get(e.texture);P.framebufferTexture2D(P.FRAMEBUFFER,P.COLOR_ATTACHMENT0,P.TEXTURE_2D,t.__webglTexture,n)}te=-1};function gt(e){let t=L.get(e);return(t.__readFormat!==e.format||t.__readType!==e.type)&&(t.__readFormat=e.format,t.__readType=e.type,t.__formatReadable=De.textureFormatReadable(e.format),t.__typeReadable=De.textureTypeReadable(e.type)),t}this.readRenderTargetPixels=function(e,t,n,r,i,a,o,s=0){if(!(e&&e.isWebGLRenderTarget)){K(`WebGLRenderer.readRenderTargetPixels: renderTarget is not THREE.WebGLRenderTarget.`);return}let c=L.get(e).__webglFramebuffer;if(e.isWebGLCubeRenderTarget&&o!==void 0&&(c=c[o],Array.isArray(c)&&(c=c[0])),c){F.bindFramebuffer(P.FRAMEBUFFER,c);try{let o=e.textures[s],c=o.format,l=o.type;e.textures.length>1&&P.readBuffer(P.COLOR_ATTACHMENT0+s);let u=gt(o);if(u.__formatReadable===!1){K(`WebGLRenderer.readRenderTargetPixels: renderTarget is not in RGBA or implementation defined format.`);return}if(u.__typeReadable===!1){K(`WebGLRenderer.readRenderTargetPixels: renderTarget is not in UnsignedByteType or implementation defined type.`);return}t>=0&&t<=e.width-r&&n>=0&&n<=e.height-i&&P.readPixels(t,n,r,i,Ve.convert(c),Ve.convert(l),a)}finally{let e=M===null?null:L.get(M).__webglFramebuffer;F.bindFramebuffer(P.FRAMEBUFFER,e)}}},this.readRenderTargetPixelsAsync=async function(e,t,n,r,i,a,o,s=0){if(!(e&&e.isWebGLRenderTarget))throw Error(`THREE.WebGLRenderer.readRenderTargetPixels: renderTarget is not THREE.WebGLRenderTarget.`);let c=L.get(e).__webglFramebuffer;if(e.isWebGLCubeRenderTarget&&o!==void 0&&(c=c[o],Array.isArray(c)&&(c=c[0])),c){if(t>=0&&t<=e.width-r&&n>=0&&n<=e.height-i){F.bindFramebuffer(P.FRAMEBUFFER,c);let o=e.textures[s],l=o.format,u=o.type;e.textures.length>1&&P.readBuffer(P.COLOR_ATTACHMENT0+s);let d=gt(o);if(d.__formatReadable===!1)throw Error(`THREE.WebGLRenderer.readRenderTargetPixelsAsync: renderTarget is not in RGBA or implementation defined format.`);if(d.__typeReadable===!1)throw Error(`THREE.WebGLRenderer.readRenderTargetPixelsAsync: renderTarget is not in UnsignedByteType or implementation defined type.`);let f=P.createBuffer();P.bindBuffer(P.PIXEL_PACK_BUFFER,f),P.bufferData(P.PIXEL_PACK_BUFFER,a.byteLength,P.STREAM_READ),P.readPixels(t,n,r,i,Ve.convert(l),Ve.convert(u),0),P.bindBuffer(P.PIXEL_PACK_BUFFER,null);let p=M===null?null:L.get(M).__webglFramebuffer;F.bindFramebuffer(P.FRAMEBUFFER,p);let m=P.fenceSync(P.SYNC_GPU_COMMANDS_COMPLETE,0);return P.flush(),await pu(P,m,4),P.bindBuffer(P.PIXEL_PACK_BUFFER,f),P.getBufferSubData(P.PIXEL_PACK_BUFFER,0,a),P.bindBuffer(P.PIXEL_PACK_BUFFER,null),P.deleteBuffer(f),P.deleteSync(m),a}throw Error(`THREE.WebGLRenderer.readRenderTargetPixelsAsync: requested read bounds are out of range.`)}},this.copyFramebufferToTexture=function(e,t=null,n=0){let r=2**-n,i=Math.floor(e.image.width*r),a=Math.floor(e.image.height*r),o=t===null?0:t.x,s=t===null?0:t.y;R.setTexture2D(e,0),P.copyTexSubImage2D(P.TEXTURE_2D,n,0,0,o,s,i,a),F.unbindTexture()},this.copyTextureToTexture=function(e,t,n=null,r=null,i=0,a=0){let o,s,c,l,u,d,f,p,m,h=e.isCompressedTexture?e.mipmaps[a]:e.image;if(n!==null)o=n.max.x-n.min.x,s=n.max.y-n.min.y,c=n.isBox3?n.max.z-n.min.z:1,l=n.min.x,u=n.min.y,d=n.isBox3?n.min.z:0;else{let t=2**-i;o=Math.floor(h.width*t),s=Math.floor(h.height*t),c=e.isDataArrayTexture?h.depth:e.isData3DTexture?Math.floor(h.depth*t):1,l=0,u=0,d=0}r===null?(f=0,p=0,m=0):(f=r.x,p=r.y,m=r.z);let g=Ve.convert(t.format),_=Ve.convert(t.type),v;t.isData3DTexture?(R.setTexture3D(t,0),v=P.TEXTURE_3D):t.isDataArrayTexture||t.isCompressedArrayTexture?(R.setTexture2DArray(t,0),v=P.TEXTURE_2D_ARRAY):(R.setTexture2D(t,0),v=P.TEXTURE_2D),F.activeTexture(P.TEXTURE0),F.pixelStorei(P.UNPACK_FLIP_Y_WEBGL,t.flipY),F.pixelStorei(P.UNPACK_PREMULTIPLY_ALPHA_WEBGL,t.premultiplyAlpha),F.pixelStorei(P.UNPACK_ALIGNMENT,t.unpackAlignment);let y=F.getParameter(P.UNPACK_ROW_LENGTH),b=F.getParameter(P.UNPACK_IMAGE_HEIGHT),x=F.getParameter(P.UNPACK_SKIP_PIXELS),S=F.getParameter(P.UNPACK_SKIP_ROWS),C=F.getParameter(P.UNPACK_SKIP_IMAGES);F.pixelStorei(P.UNPACK_ROW_LENGTH,h.width),F.pixelStorei(P.UNPACK_IMAGE_HEIGHT,h.height),F.pixelStorei(P.UNPACK_SKIP_PIXELS,l),F.pixelStorei(P.UNPACK_SKIP_ROWS,u),F.pixelStorei(P.UNPACK_SKIP_IMAGES,d);let w=e.isDataArrayTexture||e.isData3DTexture,T=t.isDataArrayTexture||t.isData3DTexture;if(e.isDepthTexture){let n=L.get(e),r=L.get(t),h=L.get(n.__renderTarget),g=L.get(r.__renderTarget);F.bindFramebuffer(P.READ_FRAMEBUFFER,h.__webglFramebuffer),F.bindFramebuffer(P.DRAW_FRAMEBUFFER,g.__webglFramebuffer);for(let n=0;n<c;n++)w&&(P.framebufferTextureLayer(P.READ_FRAMEBUFFER,P.COLOR_ATTACHMENT0,L.get(e).__webglTexture,i,d+n),P.framebufferTextureLayer(P.DRAW_FRAMEBUFFER,P.COLOR_ATTACHMENT0,L.get(t).__webglTexture,a,m+n)),P.blitFramebuffer(l,u,l+o,u+s,f,p,f+o,p+s,P.DEPTH_BUFFER_BIT,P.NEAREST);F.bindFramebuffer(P.READ_FRAMEBUFFER,null),F.bindFramebuffer(P.DRAW_FRAMEBUFFER,null)}else if(i!==0||e.isRenderTargetTexture||L.has(e)){let n=L.get(e),r=L.get(t);F.bindFramebuffer(P.READ_FRAMEBUFFER,k),F.bindFramebuffer(P.DRAW_FRAMEBUFFER,A);for(let e=0;e<c;e++)w?P.framebufferTextureLayer(P.READ_FRAMEBUFFER,P.COLOR_ATTACHMENT0,n.__webglTexture,i,d+e):P.framebufferTexture2D(P.READ_FRAMEBUFFER,P.COLOR_ATTACHMENT0,P.TEXTURE_2D,n.__webglTexture,i),T?P.framebufferTextureLayer(P.DRAW_FRAMEBUFFER,P.COLOR_ATTACHMENT0,r.__webglTexture,a,m+e):P.framebufferTexture2D(P.DRAW_FRAMEBUFFER,P.COLOR_ATTACHMENT0,P.TEXTURE_2D,r.__webglTexture,a),i===0?T?P.copyTexSubImage3D(v,a,f,p,m+e,l,u,o,s):P.copyTexSubImage2D(v,a,f,p,l,u,o,s):P.blitFramebuffer(l,u,l+o,u+s,f,p,f+o,p+s,P.COLOR_BUFFER_BIT,P.NEAREST);F.bindFramebuffer(P.READ_FRAMEBUFFER,null),F.bindFramebuffer(P.DRAW_FRAMEBUFFER,null)}else T?e.isDataTexture||e.isData3DTexture?P.texSubImage3D(v,a,f,p,m,o,s,c,g,_,h.data):t.isCompressedArrayTexture?P.compressedTexSubImage3D(v,a,f,p,m,o,s,c,g,h.data):P.texSubImage3D(v,a,f,p,m,o,s,c,g,_,h):e.isDataTexture?P.texSubImage2D(P.TEXTURE_2D,a,f,p,o,s,g,_,h.data):e.isCompressedTexture?P.compressedTexSubImage2D(P.TEXTURE_2D,a,f,p,h.width,h.height,g,h.data):P.texSubImage2D(P.TEXTURE_2D,a,f,p,o,s,g,_,h);F.pixelStorei(P.UNPACK_ROW_LENGTH,y),F.pixelStorei(P.UNPACK_IMAGE_HEIGHT,b),F.pixelStorei(P.UNPACK_SKIP_PIXELS,x),F.pixelStorei(P.UNPACK_SKIP_ROWS,S),F.pixelStorei(P.UNPACK_SKIP_IMAGES,C),a===0&&t.generateMipmaps===!0&&t.mipmapsAutoUpdate===!0&&P.generateMipmap(v),F.unbindTexture()},this.initRenderTarget=function(e){L.get(e).__webglFramebuffer===void 0&&R.setupRenderTarget(e)},this.initTexture=function(e){e.isCubeTexture?R.setTextureCube(e,0):e.isData3DTexture?R.setTexture3D(e,0):e.isDataArrayTexture||e.isCompressedArrayTexture?R.setTexture2DArray(e,0):R.setTexture2D(e,0),F.unbindTexture()},this.resetState=function(){j=0,ee=0,M=null,F.reset(),He.reset()},typeof __THREE_DEVTOOLS__<`u`&&__THREE_DEVTOOLS__.dispatchEvent(new CustomEvent(`observe`,{detail:this}))}get coordinateSystem(){return iu}get outputColorSpace(){return this._outputColorSpace}set outputColorSpace(e){this._outputColorSpace=e;let t=this.getContext();t.drawingBufferColorSpace=Xu._getDrawingBufferColorSpace(e),t.unpackColorSpace=Xu._getUnpackColorSpace()}},ty={mouse:16,touch:30,pen:20},ny=class{viewport;handles;hooks;vertical=!1;ray=new Ah;held=null;constructor(e,t,n){this.viewport=e,this.handles=t,this.hooks=n;let r=e.canvas;r.addEventListener(`pointerdown`,e=>this.down(e),{capture:!0}),r.addEventListener(`pointermove`,e=>this.moved(e)),r.addEventListener(`pointerup`,e=>this.up(e)),r.addEventListener(`pointercancel`,e=>this.up(e))}nearestHandle(e){let t=this.viewport.canvas.getBoundingClientRect(),[n,r]=[e.clientX-t.left,e.clientY-t.top],[i,a]=[ty[e.pointerType]??16,null];for(let e of this.handles()){let t=this.viewport.toScreen(e.position);if(!t)continue;let o=Math.hypot(t.x-n,t.y-r);o<i&&([i,a]=[o,e])}return a}down(e){if(e.button!==0)return;let t=this.nearestHandle(e);t?(this.hooks.pick(t.key),this.viewport.controls.enabled=!1,this.viewport.dragging=!0,this.viewport.canvas.setPointerCapture(e.pointerId),this.hold(t,e,e.shiftKey||this.vertical),e.preventDefault()):this.press={x:e.clientX,y:e.clientY}}press=null;hold(e,t,n){let r=this.viewport.toScene(e.position),i=new Y(0,0,1);n&&!this.viewport.top&&this.viewport.camera.getWorldDirection(i).setZ(0).normalize();let a=new Zf().setFromNormalAndCoplanarPoint(i,r),o=this.hit(t,a)??r.clone();this.held={handle:{...e},plane:a,offset:r.sub(o),up:n,y:t.clientY}}hit(e,t){let n=this.viewport.canvas.getBoundingClientRect(),r=new J(2*(e.clientX-n.left)/n.width-1,1-2*(e.clientY-n.top)/n.height);return this.ray.setFromCamera(r,this.viewport.camera),this.ray.ray.intersectPlane(t,new Y)}moved(e){if(!this.held){if(e.pointerType===`mouse`&&e.buttons===0){let t=this.nearestHandle(e);this.viewport.canvas.style.cursor=t?`grab`:``}return}let t=e.shiftKey||this.vertical;t!==this.held.up&&this.hold(this.held.handle,e,t);let n=this.hit(e,this.held.plane);if(!n)return;let r=n.add(this.held.offset).divideScalar(this.viewport.unit),[i,a,o]=this.held.handle.position,s=(this.held.up?[i,a,this.viewport.top?o+this.lifted(e):r.z]:[r.x,r.y,o]).map((e,t)=>Math.round(10*Math.min(Math.max(e,0),this.viewport.region[t]))/10);this.held.handle.position=s,this.hooks.move(this.held.handle.key,s)}lifted(e){let t=(this.held.y-e.clientY)*this.viewport.cameras.unitsPerPixel(this.viewport.canvas.clientHeight)/this.viewport.unit;return this.held.y=e.clientY,t}up(e){this.held?(this.viewport.controls.enabled=!0,this.viewport.dragging=!1,this.viewport.canvas.hasPointerCapture(e.pointerId)&&this.viewport.canvas.releasePointerCapture(e.pointerId),this.hooks.done(this.held.handle.key),this.held=null):(this.press&&Math.hypot(e.clientX-this.press.x,e.clientY-this.press.y)<4&&this.hooks.pick(null),this.press=null)}},ry=60,iy=.2,ay=.55,oy=.9,sy=e=>e.length>ry,cy=e=>sy(e)&&e.filter(uy).length<=iy*e.length,ly=class{viewport;group=new Bd;meshes={};constructor(e){this.viewport=e}draw(e,t){let n=sy(e),r=py(),i=cy(e),a={};for(let t of e){if(t.opacity<=.02)continue;let e=t.position[2]>0?`air`:n?`hexagon`:`disc`;(a[`${e}-${t.state===`departed`?`wireframe`:`solid`}`]??=[]).push(t)}let o=e=>(.4+.6*e.opacity)*(e.dimmed?.6:1)*(n?i&&uy(e)?1.35:ay:e.state===`off`?.8:1);for(let e of new Set([...Object.keys(this.meshes),...Object.keys(a)]))e!==`ring`&&this.fillMesh(e,a[e]??[],o,e=>(e.dimmed?r.dimmed:r.plain)[e.state]);let s=({id:e})=>t===`device:${e}`,[c,l]=[new Z(W(`accent`)),new Z(W(`ink`))];this.fillMesh(`ring`,e.filter(e=>e.opacity>.02&&(s(e)||i&&uy(e)&&!e.dimmed)),e=>Math.max(o(e),ay),e=>s(e)?c:l)}fillMesh(e,t,n,r){let i=this.meshes[e];(!i||i.instanceMatrix.count<t.length)&&(i?.removeFromParent(),i?.dispose(),i=new kp(dy(e),fy(e),Math.max(16,2*t.length)),i.frustumCulled=!1,this.meshes[e]=i,this.group.add(i)),i.count=t.length;let a=new fd;t.forEach((e,t)=>{let o=n(e);a.makeScale(o,o,o).setPosition(this.viewport.toScene(e.position)),i.setMatrixAt(t,a),i.setColorAt(t,r(e))}),i.instanceMatrix.needsUpdate=!0,i.instanceColor&&(i.instanceColor.needsUpdate=!0)}},uy=({state:e})=>e===`off`||e===`failed`;function dy(e){if(e===`ring`)return new dm(3.1,.28,6,32);if(e.startsWith(`air`))return new cm(1.9);let t=new em(1.7,1.7,1,e.startsWith(`disc`)?20:6);return t.rotateX(Math.PI/2).translate(0,0,.5),t}function fy(e){return e===`ring`?new ap:e.endsWith(`wireframe`)?new ap({wireframe:!0,transparent:!0,opacity:.85}):new wm}function py(){let e=new Z(W(`ground`)),t={active:new Z(W(`device`)),off:new Z(W(`off`)),failed:new Z(W(`failed`)),departed:new Z(W(`departed`))},n=t=>t.clone().lerp(e,oy);return{plain:t,dimmed:{active:n(t.active),off:n(t.off),failed:n(t.failed),departed:n(t.departed)}}}function my({objective:e},t){let[n,r]=[e.length-1,e[0].length-1],i=[];for(let a=0;a<n;a++){let[o,s]=[e[a],e[a+1]];for(let e=0;e<r;e++){let c=[o[e],o[e+1],s[e+1],s[e]];if(c.some(e=>e===null))continue;let l=c.map(e=>e>t);if(l.every(e=>e===l[0]))continue;let u=[];for(let i=0;i<4;i++){let o=(i+1)%4;if(l[i]===l[o])continue;let s=(t-c[i])/(c[o]-c[i]),[[d,f],[p,m]]=[hy[i],hy[o]];u.push((e+d+s*(p-d))/r,(a+f+s*(m-f))/n)}i.push(...u)}}return{value:t,segments:i}}var hy=[[0,0],[1,0],[1,1],[0,1]];function gy({segments:e}){let t=0;for(let n=2;n<e.length;n+=2)e[n]>e[t]&&(t=n);return[e[t],e[t+1]]}var _y=5,vy=17,yy=190,by=2,xy=class{viewport;element=document.createElement(`div`);mostOrdinary=40;sources=new Map;ordered=null;shown=new Map;sides=new Map;widths=new Map;probe=document.createElement(`span`);obstacles=new Map;observer=new ResizeObserver(()=>this.measureObstacles());constructor(e){this.viewport=e,this.element.className=`overlay`,this.probe.style.visibility=`hidden`,this.element.append(this.probe),this.observer.observe(e.host)}set(e,t){this.sources.set(e,t),this.ordered=null}avoid(e){this.obstacles.set(e,{left:0,top:0,right:0,bottom:0}),this.observer.observe(e)}measureObstacles(){let e=this.viewport.host.getBoundingClientRect();for(let t of this.obstacles.keys()){let{left:n,top:r,right:i,bottom:a}=t.getBoundingClientRect();this.obstacles.set(t,{left:n-e.left,top:r-e.top,right:i-e.left,bottom:a-e.top})}this.viewport.invalidate()}place(){this.ordered??=[...this.sources.values()].flat().sort((e,t)=>e.priority-t.priority);let{clientWidth:e,clientHeight:t}=this.element,n=[...this.obstacles.values()],r=new Map,i=0;for(let a of this.ordered){if(a.priority>=_y&&i>=this.mostOrdinary)break;let o=a.at.clone().project(this.viewport.camera);if(o.z>1||Math.abs(o.x)>1.1||Math.abs(o.y)>1.1)continue;let[s,c]=[(o.x+1)*e/2,(1-o.y)*t/2],l=this.freeRectangle(a,s,c,n,e,t);l&&(n.push(l),r.set(a.key,{label:a,x:l.left,y:l.top}),a.priority>=_y&&i++)}this.write(r)}freeRectangle(e,t,n,r,i,a){let o=this.width(e),s=e.kind===`mark`?[[-o/2,-17/2]]:[[9,-18],[9,1],[-9-o,-18],[-9-o,1],[9,-34],[9,vy]],c=this.sides.get(e.key)??0;for(let l=0;l<s.length;l++){let u=l===0?c%s.length:l<=c?l-1:l,[d,f]=[t+s[u][0],n+s[u][1]],p={left:d,top:f,right:d+o,bottom:f+vy};if(!(d<0||f<0||p.right>i||p.bottom>a||r.some(e=>Cy(p,e))))return u!==c&&this.sides.set(e.key,u),p}return null}width({text:e,kind:t}){let n=`${t}\n${e}`,r=this.widths.get(n);return r===void 0&&(this.widths.size>5e3&&this.widths.clear(),this.probe.className=Sy(t),this.probe.textContent=e,r=Math.min(Math.ceil(this.probe.getBoundingClientRect().width),yy),this.probe.textContent=this.probe.className=``,r>0&&this.widths.set(n,r)),r}write(e){for(let[t,{element:n}]of this.shown)e.has(t)||(n.remove(),this.shown.delete(t));for(let[t,{label:n,x:r,y:i}]of e){let e=this.shown.get(t);e||(e={element:document.createElement(`span`),transform:``},e.element.dataset.label=t,this.shown.set(t,e),this.element.append(e.element));let{element:a}=e,o=`translate(${r.toFixed(1)}px, ${i.toFixed(1)}px)`;a.className!==Sy(n.kind)&&(a.className=Sy(n.kind)),a.textContent!==n.text&&(a.textContent=n.text),e.transform!==o&&(a.style.transform=e.transform=o)}}},Sy=e=>e===`mark`?e:`name ${e}`,Cy=(e,t)=>e.left<t.right+by&&t.left<e.right+by&&e.top<t.bottom+by&&t.top<e.bottom+by,wy=class{material;object;capacity=0;constructor(e){this.material=e,this.object=new Jp(new Uf,e),this.object.frustumCulled=!1}set(e,t){let{geometry:n}=this.object;e.length>this.capacity&&(this.capacity=2*e.length,n.dispose(),n.setAttribute(`position`,new Of(new Float32Array(this.capacity),3)),t&&n.setAttribute(`color`,new Of(new Float32Array(this.capacity),3))),this.fill(`position`,e),t&&this.fill(`color`,t),n.setDrawRange(0,e.length/3),this.material instanceof Dm&&e.length&&this.object.computeLineDistances()}fill(e,t){let n=this.object.geometry.getAttribute(e);n&&(n.array.set(t),n.needsUpdate=!0)}};function Ty(e,t){let n=new Uf;return n.setAttribute(`position`,new jf(e,3)),new Jp(n,new Ip({color:t}))}function Ey(e){for(let t of[...e.children])t.removeFromParent(),t.traverse(e=>{let{geometry:t,material:n}=e;t?.dispose();for(let e of n?[n].flat():[])e.map?.dispose(),e.dispose()})}var Dy=.9,Oy=[.25,.5,.75],ky=41,Ay=class{viewport;onChange;scale=null;contours=0;surface=null;lines=new wy(new Ip({transparent:!0,opacity:.7}));mesh;ray=new Ah;constructor(e,t){this.viewport=e,this.onChange=t;let n=new ap({map:Py(2,2),transparent:!0,side:2,depthWrite:!1});this.mesh=new _p(new lm(1,1),n),this.mesh.renderOrder=-1,this.mesh.visible=!1,e.scene.add(this.mesh,this.lines.object),ca(()=>this.show(this.surface))}show(e){if(this.scale=e&&My(e),this.surface=this.scale&&e,this.mesh.visible=this.scale!==null,this.viewport.invalidate(),e&&this.scale){let{region:t,unit:n}=this.viewport,[r,i]=[t[0]*n,t[1]*n];this.mesh.scale.set(r,i,1),this.mesh.position.set(r/2,i/2,e.altitude_m*n),Iy(this.mesh.material,e,this.scale)}this.drawContours(),this.onChange()}drawContours(){let{surface:e,scale:t,viewport:{region:n,unit:r,labels:i}}=this,a=e!==null&&t!==null&&e.x_m.length>=ky&&t.clear>t.lowest?Oy.map(n=>my(e,Ny(t,n))).filter(({segments:e})=>e.length):[],o=(e?.altitude_m??0)*r,s=(e,t)=>new Y(e*n[0]*r,t*n[1]*r,o);this.contours=a.length,this.lines.material.color.set(W(`shade`)),this.lines.set(a.flatMap(({segments:e})=>e.flatMap((t,n)=>n%2?[]:s(t,e[n+1]).toArray()))),i.set(`contours`,a.map(e=>({key:`contour:${e.value}`,text:U(e.value,3),kind:`contour`,at:s(...gy(e)),priority:4})))}valueUnder(e,t){let{surface:n,viewport:{canvas:r,camera:i,unit:a,region:o}}=this;if(!n)return null;let s=new J(2*e/r.clientWidth-1,1-2*t/r.clientHeight);this.ray.setFromCamera(s,i);let c=new Zf(new Y(0,0,1),-n.altitude_m*a),l=this.ray.ray.intersectPlane(c,new Y),[u,d]=l?[l.x/a,l.y/a]:[-1,-1];return u<0||d<0||u>o[0]||d>o[1]?null:{x_m:u,y_m:d,objective:jy(n.objective,u/o[0],d/o[1])}}};function jy(e,t,n){let[r,i]=[e[0].length-1,e.length-1],[a,o]=[Math.min(Math.floor(t*r),r-1),Math.min(Math.floor(n*i),i-1)],[s,c]=[t*r-a,n*i-o],l=[e[o][a],e[o][a+1],e[o+1][a],e[o+1][a+1]];if(l.some(e=>e===null))return null;let[u,d,f,p]=l;return(u*(1-s)+d*s)*(1-c)+(f*(1-s)+p*s)*c}function My(e){let t=e.objective.flat().filter(e=>e!==null).sort((e,t)=>e-t);if(!t.length)return null;let[n,r]=[t[0],t.at(-1)],i=t[Math.floor(Dy*(t.length-1))],a={altitude_m:e.altitude_m,lowest:n,clear:i,highest:r,middle:0};return{...a,middle:Ny(a,.5)}}var Ny=({lowest:e,clear:t},n)=>e+Math.expm1(n*Math.log1p(t-e));function Py(e,t){let n=new bp(new Uint8Array(4*t*e),e,t);return n.colorSpace=Ql,n.magFilter=n.minFilter=Ic,n}var Fy=e=>.82*Math.max(.03,(1-Math.min(1,e))**1.3);function Iy(e,t,{lowest:n,clear:r}){let[i,a]=[t.objective.length,t.objective[0].length],o=e.map.image;(o.width!==a||o.height!==i)&&(e.map.dispose(),e.map=Py(a,i));let s=e.map.image.data,c=Math.max(Math.log1p(r-n),1e-9),l=new Z(W(`shade`)).convertLinearToSRGB().toArray().map(e=>255*e),u=0;for(let e of t.objective)for(let t of e)s.set(l,u),s[u+3]=t===null?0:255*Fy(Math.log1p(t-n)/c),u+=4;e.map.needsUpdate=!0}var Ly=680,Ry=100,zy=28,By=[[`active`,`active`],[`off`,`off`],[`failed`,`link failed`],[`departed`,`departed, embeddings cached`]];function Vy({state:e,objectiveMap:t,reachShells:n,viewport:r}){let i=t.scale,{server:a,serverBefore:o,optimum:s,serverLabels:c,selected:l}=e,u=e.devices.filter(({opacity:e})=>e>.02),d=u.some(({position:e})=>e[2]>0),f=By.map(([e,t])=>{let n=u.filter(t=>t.state===e).length,r=e!==`active`&&e!==`departed`&&cy(u);return n>0&&{kind:r?`${e} ringed`:e,text:`${t} (${n})`}});return f.push(d&&{kind:`flying`,text:`flying`},u.some(({dimmed:e})=>e)&&{kind:`dimmed`,text:`not in the filter`},u.some(({id:e})=>l===`device:${e}`)&&{kind:`ring`,text:`selected`},a&&{kind:`server`,text:s?`server where you put it`:c?.now??`server`},!!s&&{kind:`optimum`,text:c?.optimum??`optimum`},o&&{kind:`before`,text:c?.before??`server before`},a&&o&&{kind:`flight`,text:`flight in the round`},e.path.length>1&&{kind:`path`,text:`path of the server`},!r.top&&(u.some(({position:e,dimmed:t})=>e[2]>0&&!t)||(a?.[2]??0)>0||[...e.candidates,...e.rivals.map(({position:e})=>e)].some(e=>e[2]>0))&&{kind:`stem`,text:`height`},e.boxes.length>0&&{kind:`box`,text:`keep-out box (${e.boxes.length})`},e.candidates.length>0&&{kind:`site`,text:`candidate site (${e.candidates.length})`},e.rivals.length>0&&{kind:`rival`,text:`server of a rival`},n.count>0&&{kind:`shell`,text:`where the server hears it at full power`},t.contours>0&&{kind:`contour`,text:`equal objective`},a&&u.some(({linkLoad:e,dimmed:t})=>e!==null&&!t)&&Hy(e),i&&{kind:`map`,text:`objective (weighted cost), server at ${U(i.altitude_m)} m`,scale:[i.lowest,i.middle,i.clear].map(e=>U(e,4)).concat(`highest ${U(i.highest,4)}`)}),f.filter(e=>!!e)}var Hy=({links:e})=>({kind:`links`,text:`link: ${e?.measure??`load`}`,scale:[e?.low??`lowest`,e?.high??`highest`]}),Uy=class{scene;element;entries=h(`ul`);pointer=h(`output`,{class:`pointer`,"aria-live":`off`});shown=``;under=null;constructor(e){this.scene=e;let{viewport:t}=e;this.element=h(`details`,{class:`legend`},h(`summary`,{},`Legend`),this.entries),t.host.append(this.element),t.labels.avoid(this.element),this.element.open=innerWidth>Ly;let n=()=>t.coverBottom(this.element.open?Ry:zy);this.element.addEventListener(`toggle`,n),n(),e.onDraw(()=>this.follow()),t.onCamera(()=>this.follow());for(let e of[`pointermove`,`pointerdown`,`pointerleave`])t.canvas.addEventListener(e,t=>{this.under=e===`pointerleave`?null:{x:t.offsetX,y:t.offsetY},this.read()});this.follow()}follow(){let e=Vy(this.scene),t=JSON.stringify(e);t!==this.shown&&(this.shown=t,this.read(),g(this.entries,...e.map(e=>h(`li`,{class:`entry ${e.kind}`,"data-kind":e.kind.split(` `)[0]},...e.scale?this.scaleParts(e):[h(`i`),h(`span`,{},e.text)]))),this.element.hidden=!e.length)}scaleParts({kind:e,text:t,scale:n}){let r=h(`i`,{class:`ramp`});if(e===`map`){let e=[0,.25,.5,.75,1].map(e=>`color-mix(in srgb, var(--shade) ${(100*Fy(e)).toFixed(0)}%, transparent)`);r.style.background=`linear-gradient(to right, ${e.join()})`}let[i,a]=e===`map`?[n.slice(0,3),n[3]]:[n,null];return[h(`span`,{},t),h(`span`,{class:`scale`},r,h(`span`,{},...i.map(e=>h(`small`,{},e)))),...a?[h(`small`,{},a),this.pointer]:[]]}read(){let e=this.under&&this.scene.objectiveMap.valueUnder(this.under.x,this.under.y);_(this.pointer,e?`here (${e.x_m.toFixed(0)}, ${e.y_m.toFixed(0)} m): ${e.objective===null?`not allowed`:U(e.objective,4)}`:``)}};$.line={worldUnits:{value:1},linewidth:{value:1},resolution:{value:new J},dashOffset:{value:0},dashScale:{value:1},dashSize:{value:1},gapSize:{value:1}},qh.line={uniforms:ym.merge([$.common,$.fog,$.line]),vertexShader:`
		#include <common>
		#include <color_pars_vertex>
		#include <fog_pars_vertex>
		#include <logdepthbuf_pars_vertex>
		#include <clipping_planes_pars_vertex>

		uniform float linewidth;
		uniform vec2 resolution;

		attribute vec3 instanceStart;
		attribute vec3 instanceEnd;

		attribute vec3 instanceColorStart;
		attribute vec3 instanceColorEnd;

		#ifdef WORLD_UNITS

			varying vec4 worldPos;
			varying vec3 worldStart;
			varying vec3 worldEnd;

			#ifdef USE_DASH

				varying vec2 vUv;

			#endif

		#else

			varying vec2 vUv;

		#endif

		#ifdef USE_DASH

			uniform float dashScale;
			attribute float instanceDistanceStart;
			attribute float instanceDistanceEnd;
			varying float vLineDistance;

		#endif

		float trimSegmentAlpha( const in vec4 start, const in vec4 end ) {

			// compute the interpolation factor needed to trim the segment so it terminates
			// between the camera plane and the near plane

			// conservative estimate of the near plane
			float a = projectionMatrix[ 2 ][ 2 ]; // 3nd entry in 3th column
			float b = projectionMatrix[ 3 ][ 2 ]; // 3nd entry in 4th column

			// we need different nearEstimate formula for reversed and default depth buffer
			// a is positive with a reversed depth buffer so it can be used for controlling the code flow
			float nearEstimate = ( a > 0.0 ) ? ( - b / ( a + 1.0 ) ) : ( - 0.5 * b / a );

			return ( nearEstimate - start.z ) / ( end.z - start.z );

		}

		void main() {

			#ifdef USE_COLOR

				vColor.xyz = ( position.y < 0.5 ) ? instanceColorStart : instanceColorEnd;

			#endif

			float aspect = resolution.x / resolution.y;

			// camera space
			vec4 start = modelViewMatrix * vec4( instanceStart, 1.0 );
			vec4 end = modelViewMatrix * vec4( instanceEnd, 1.0 );

			#ifdef USE_DASH

				float lineDistanceStart = dashScale * instanceDistanceStart;
				float lineDistanceEnd = dashScale * instanceDistanceEnd;

			#endif

			#ifdef WORLD_UNITS

				worldStart = start.xyz;
				worldEnd = end.xyz;

			#else

				vUv = uv;

			#endif

			// special case for perspective projection, and segments that terminate either in, or behind, the camera plane
			// clearly the gpu firmware has a way of addressing this issue when projecting into ndc space
			// but we need to perform ndc-space calculations in the shader, so we must address this issue directly
			// perhaps there is a more elegant solution -- WestLangley

			bool perspective = ( projectionMatrix[ 2 ][ 3 ] == - 1.0 ); // 4th entry in the 3rd column

			if ( perspective ) {

				if ( start.z < 0.0 && end.z >= 0.0 ) {

					float alpha = trimSegmentAlpha( start, end );
					end.xyz = mix( start.xyz, end.xyz, alpha );

					#ifdef USE_DASH

						lineDistanceEnd = mix( lineDistanceStart, lineDistanceEnd, alpha );

					#endif

				} else if ( end.z < 0.0 && start.z >= 0.0 ) {

					float alpha = trimSegmentAlpha( end, start );
					start.xyz = mix( end.xyz, start.xyz, alpha );

					#ifdef USE_DASH

						lineDistanceStart = mix( lineDistanceEnd, lineDistanceStart, alpha );

					#endif

				}

			}

			#ifdef USE_DASH

				vLineDistance = ( position.y < 0.5 ) ? lineDistanceStart : lineDistanceEnd;
				vUv = uv;

			#endif

			// clip space
			vec4 clipStart = projectionMatrix * start;
			vec4 clipEnd = projectionMatrix * end;

			// ndc space
			vec3 ndcStart = clipStart.xyz / clipStart.w;
			vec3 ndcEnd = clipEnd.xyz / clipEnd.w;

			// direction
			vec2 dir = ndcEnd.xy - ndcStart.xy;

			// account for clip-space aspect ratio
			dir.x *= aspect;
			dir = normalize( dir );

			#ifdef WORLD_UNITS

				vec3 worldDir = normalize( end.xyz - start.xyz );
				vec3 tmpFwd = perspective ? normalize( mix( start.xyz, end.xyz, 0.5 ) ) : vec3( 0.0, 0.0, - 1.0 );
				vec3 worldUp = normalize( cross( worldDir, tmpFwd ) );
				vec3 worldFwd = cross( worldDir, worldUp );
				worldPos = position.y < 0.5 ? start: end;

				// height offset
				float hw = linewidth * 0.5;
				worldPos.xyz += position.x < 0.0 ? hw * worldUp : - hw * worldUp;

				// don't extend the line if we're rendering dashes because we
				// won't be rendering the endcaps
				#ifndef USE_DASH

					// cap extension
					worldPos.xyz += position.y < 0.5 ? - hw * worldDir : hw * worldDir;

					// add width to the box
					worldPos.xyz += worldFwd * hw;

					// endcaps
					if ( position.y > 1.0 || position.y < 0.0 ) {

						worldPos.xyz -= worldFwd * 2.0 * hw;

					}

				#endif

				// project the worldpos
				vec4 clip = projectionMatrix * worldPos;

				// shift the depth of the projected points so the line
				// segments overlap neatly
				vec3 clipPose = ( position.y < 0.5 ) ? ndcStart : ndcEnd;

				// only shift the depth of vertices in front of the camera (#35137)
				if ( clip.w > 0.0 ) clip.z = clipPose.z * clip.w;

			#else

				vec2 offset = vec2( dir.y, - dir.x );
				// undo aspect ratio adjustment
				dir.x /= aspect;
				offset.x /= aspect;

				// sign flip
				if ( position.x < 0.0 ) offset *= - 1.0;

				// endcaps
				if ( position.y < 0.0 ) {

					offset += - dir;

				} else if ( position.y > 1.0 ) {

					offset += dir;

				}

				// adjust for linewidth
				offset *= linewidth;

				// adjust for clip-space to screen-space conversion // maybe resolution should be based on viewport ...
				offset /= resolution.y;

				// select end
				vec4 clip = ( position.y < 0.5 ) ? clipStart : clipEnd;

				// back to clip space
				offset *= clip.w;

				clip.xy += offset;

			#endif

			gl_Position = clip;

			vec4 mvPosition = ( position.y < 0.5 ) ? start : end; // this is an approximation

			#include <logdepthbuf_vertex>
			#include <clipping_planes_vertex>
			#include <fog_vertex>

		}
		`,fragmentShader:`
		uniform vec3 diffuse;
		uniform float opacity;
		uniform float linewidth;

		#ifdef USE_DASH

			uniform float dashOffset;
			uniform float dashSize;
			uniform float gapSize;

		#endif

		varying float vLineDistance;

		#ifdef WORLD_UNITS

			varying vec4 worldPos;
			varying vec3 worldStart;
			varying vec3 worldEnd;

			#ifdef USE_DASH

				varying vec2 vUv;

			#endif

		#else

			varying vec2 vUv;

		#endif

		#include <common>
		#include <color_pars_fragment>
		#include <fog_pars_fragment>
		#include <logdepthbuf_pars_fragment>
		#include <clipping_planes_pars_fragment>

		vec2 closestLineToLine(vec3 p1, vec3 p2, vec3 p3, vec3 p4) {

			float mua;
			float mub;

			vec3 p13 = p1 - p3;
			vec3 p43 = p4 - p3;

			vec3 p21 = p2 - p1;

			float d1343 = dot( p13, p43 );
			float d4321 = dot( p43, p21 );
			float d1321 = dot( p13, p21 );
			float d4343 = dot( p43, p43 );
			float d2121 = dot( p21, p21 );

			float denom = d2121 * d4343 - d4321 * d4321;

			float numer = d1343 * d4321 - d1321 * d4343;

			mua = numer / denom;
			mua = clamp( mua, 0.0, 1.0 );
			mub = ( d1343 + d4321 * ( mua ) ) / d4343;
			mub = clamp( mub, 0.0, 1.0 );

			return vec2( mua, mub );

		}

		void main() {

			float alpha = opacity;
			vec4 diffuseColor = vec4( diffuse, alpha );

			#include <clipping_planes_fragment>

			#ifdef USE_DASH

				if ( vUv.y < - 1.0 || vUv.y > 1.0 ) discard; // discard endcaps

				if ( mod( vLineDistance + dashOffset, dashSize + gapSize ) > dashSize ) discard; // todo - FIX

			#endif

			#ifdef WORLD_UNITS

				float len;

				if ( isOrthographic ) {

					// View rays are parallel to the z axis so the distance reduces to camera-space XY
					vec2 lineDir = worldEnd.xy - worldStart.xy;
					float t = clamp( dot( worldPos.xy - worldStart.xy, lineDir ) / dot( lineDir, lineDir ), 0.0, 1.0 );
					len = length( worldStart.xy + lineDir * t - worldPos.xy );

				} else {

					// Find the closest points on the view ray and the line segment
					vec3 rayEnd = normalize( worldPos.xyz ) * 1e5;
					vec3 lineDir = worldEnd - worldStart;
					vec2 params = closestLineToLine( worldStart, worldEnd, vec3( 0.0, 0.0, 0.0 ), rayEnd );

					vec3 p1 = worldStart + lineDir * params.x;
					vec3 p2 = rayEnd * params.y;
					vec3 delta = p1 - p2;
					len = length( delta );

				}

				float norm = len / linewidth;

				#ifndef USE_DASH

					#ifdef USE_ALPHA_TO_COVERAGE

						float dnorm = fwidth( norm );
						alpha = 1.0 - smoothstep( 0.5 - dnorm, 0.5 + dnorm, norm );

					#else

						if ( norm > 0.5 ) {

							discard;

						}

					#endif

				#endif

			#else

				#ifdef USE_ALPHA_TO_COVERAGE

					// artifacts appear on some hardware if a derivative is taken within a conditional
					float a = vUv.x;
					float b = ( vUv.y > 0.0 ) ? vUv.y - 1.0 : vUv.y + 1.0;
					float len2 = a * a + b * b;
					float dlen = fwidth( len2 );

					if ( abs( vUv.y ) > 1.0 ) {

						alpha = 1.0 - smoothstep( 1.0 - dlen, 1.0 + dlen, len2 );

					}

				#else

					if ( abs( vUv.y ) > 1.0 ) {

						float a = vUv.x;
						float b = ( vUv.y > 0.0 ) ? vUv.y - 1.0 : vUv.y + 1.0;
						float len2 = a * a + b * b;

						if ( len2 > 1.0 ) discard;

					}

				#endif

			#endif

			#include <logdepthbuf_fragment>
			#include <color_fragment>

			gl_FragColor = vec4( diffuseColor.rgb, alpha );

			#include <tonemapping_fragment>
			#include <colorspace_fragment>
			#include <fog_fragment>
			#include <premultiplied_alpha_fragment>

		}
		`};var Wy=class extends Sm{constructor(e){super({type:`LineMaterial`,uniforms:ym.clone(qh.line.uniforms),vertexShader:qh.line.vertexShader,fragmentShader:qh.line.fragmentShader,clipping:!0}),this.isLineMaterial=!0,this.setValues(e)}get color(){return this.uniforms.diffuse.value}set color(e){this.uniforms.diffuse.value=e}get worldUnits(){return`WORLD_UNITS`in this.defines}set worldUnits(e){e===!0!==this.worldUnits&&(this.needsUpdate=!0),e===!0?this.defines.WORLD_UNITS=``:delete this.defines.WORLD_UNITS}get linewidth(){return this.uniforms.linewidth.value}set linewidth(e){this.uniforms.linewidth&&(this.uniforms.linewidth.value=e)}get dashed(){return`USE_DASH`in this.defines}set dashed(e){e===!0!==this.dashed&&(this.needsUpdate=!0),e===!0?this.defines.USE_DASH=``:delete this.defines.USE_DASH}get dashScale(){return this.uniforms.dashScale.value}set dashScale(e){this.uniforms.dashScale.value=e}get dashSize(){return this.uniforms.dashSize.value}set dashSize(e){this.uniforms.dashSize.value=e}get dashOffset(){return this.uniforms.dashOffset.value}set dashOffset(e){this.uniforms.dashOffset.value=e}get gapSize(){return this.uniforms.gapSize.value}set gapSize(e){this.uniforms.gapSize.value=e}get opacity(){return this.uniforms.opacity.value}set opacity(e){this.uniforms&&(this.uniforms.opacity.value=e)}get resolution(){return this.uniforms.resolution.value}set resolution(e){this.uniforms.resolution.value.copy(e)}get alphaToCoverage(){return`USE_ALPHA_TO_COVERAGE`in this.defines}set alphaToCoverage(e){this.defines&&(e===!0!==this.alphaToCoverage&&(this.needsUpdate=!0),e===!0?this.defines.USE_ALPHA_TO_COVERAGE=``:delete this.defines.USE_ALPHA_TO_COVERAGE)}},Gy=new uf,Ky=new Y,qy=class extends dh{constructor(){super(),this.isLineSegmentsGeometry=!0,this.type=`LineSegmentsGeometry`,this.setIndex([0,2,1,2,3,1,2,4,3,4,5,3,4,6,5,6,7,5]),this.setAttribute(`position`,new jf([-1,2,0,1,2,0,-1,1,0,1,1,0,-1,0,0,1,0,0,-1,-1,0,1,-1,0],3)),this.setAttribute(`uv`,new jf([-1,2,1,2,-1,1,1,1,-1,-1,1,-1,-1,-2,1,-2],2))}applyMatrix4(e){let t=this.attributes.instanceStart,n=this.attributes.instanceEnd;return t!==void 0&&(t.applyMatrix4(e),n.applyMatrix4(e),t.needsUpdate=!0),this.boundingBox!==null&&this.computeBoundingBox(),this.boundingSphere!==null&&this.computeBoundingSphere(),this}setPositions(e){let t;e instanceof Float32Array?t=e:Array.isArray(e)&&(t=new Float32Array(e));let n=new Oh(t,6,1);return this.setAttribute(`instanceStart`,new qf(n,3,0)),this.setAttribute(`instanceEnd`,new qf(n,3,3)),this.instanceCount=this.attributes.instanceStart.count,this.computeBoundingBox(),this.computeBoundingSphere(),this}setColors(e){let t;e instanceof Float32Array?t=e:Array.isArray(e)&&(t=new Float32Array(e));let n=new Oh(t,6,1);return this.setAttribute(`instanceColorStart`,new qf(n,3,0)),this.setAttribute(`instanceColorEnd`,new qf(n,3,3)),this}fromWireframeGeometry(e){return this.setPositions(e.attributes.position.array),this}fromEdgesGeometry(e){return this.setPositions(e.attributes.position.array),this}fromMesh(e){return this.fromWireframeGeometry(new fm(e.geometry)),this}fromLineSegments(e){let t=e.geometry;return this.setPositions(t.attributes.position.array),this}computeBoundingBox(){this.boundingBox===null&&(this.boundingBox=new uf);let e=this.attributes.instanceStart,t=this.attributes.instanceEnd;e!==void 0&&t!==void 0&&(this.boundingBox.setFromBufferAttribute(e),Gy.setFromBufferAttribute(t),this.boundingBox.union(Gy))}computeBoundingSphere(){this.boundingSphere===null&&(this.boundingSphere=new Ff),this.boundingBox===null&&this.computeBoundingBox();let e=this.attributes.instanceStart,t=this.attributes.instanceEnd;if(e!==void 0&&t!==void 0){let n=this.boundingSphere.center;this.boundingBox.getCenter(n);let r=0;for(let i=0,a=e.count;i<a;i++)Ky.fromBufferAttribute(e,i),r=Math.max(r,n.distanceToSquared(Ky)),Ky.fromBufferAttribute(t,i),r=Math.max(r,n.distanceToSquared(Ky));this.boundingSphere.radius=Math.sqrt(r),isNaN(this.boundingSphere.radius)&&console.error(`THREE.LineSegmentsGeometry.computeBoundingSphere(): Computed radius is NaN. The instanced position data is likely to have NaN values.`,this)}}toJSON(){}},Jy=new sd,Yy=new Y,Xy=new Y,Zy=new sd,Qy=new sd,$y=new sd,eb=new Y,tb=new fd,nb=new Vh,rb=new Y,ib=new uf,ab=new Ff,ob=new sd,sb,cb;function lb(e,t,n){return ob.set(0,0,-t,1).applyMatrix4(e.projectionMatrix),ob.multiplyScalar(1/ob.w),ob.x=cb/n.width,ob.y=cb/n.height,ob.applyMatrix4(e.projectionMatrixInverse),ob.multiplyScalar(1/ob.w),Math.abs(Math.max(ob.x,ob.y))}function ub(e,t){let n=e.matrixWorld,r=e.geometry,i=r.attributes.instanceStart,a=r.attributes.instanceEnd,o=Math.min(r.instanceCount,i.count);for(let r=0,s=o;r<s;r++){nb.start.fromBufferAttribute(i,r),nb.end.fromBufferAttribute(a,r),nb.applyMatrix4(n);let o=new Y,s=new Y;sb.distanceSqToSegment(nb.start,nb.end,s,o),s.distanceTo(o)<cb*.5&&t.push({point:s,pointOnLine:o,distance:sb.origin.distanceTo(s),object:e,face:null,faceIndex:r,uv:null,uv1:null})}}function db(e,t,n){let r=t.projectionMatrix,i=e.material.resolution,a=e.matrixWorld,o=e.geometry,s=o.attributes.instanceStart,c=o.attributes.instanceEnd,l=Math.min(o.instanceCount,s.count),u=-t.near;sb.at(1,$y),$y.w=1,$y.applyMatrix4(t.matrixWorldInverse),$y.applyMatrix4(r),$y.multiplyScalar(1/$y.w),$y.x*=i.x/2,$y.y*=i.y/2,$y.z=0,eb.copy($y),tb.multiplyMatrices(t.matrixWorldInverse,a);for(let t=0,o=l;t<o;t++){if(Zy.fromBufferAttribute(s,t),Qy.fromBufferAttribute(c,t),Zy.w=1,Qy.w=1,Zy.applyMatrix4(tb),Qy.applyMatrix4(tb),Zy.z>u&&Qy.z>u)continue;if(Zy.z>u){let e=Zy.z-Qy.z,t=(Zy.z-u)/e;Zy.lerp(Qy,t)}else if(Qy.z>u){let e=Qy.z-Zy.z,t=(Qy.z-u)/e;Qy.lerp(Zy,t)}Zy.applyMatrix4(r),Qy.applyMatrix4(r),Zy.multiplyScalar(1/Zy.w),Qy.multiplyScalar(1/Qy.w),Zy.x*=i.x/2,Zy.y*=i.y/2,Qy.x*=i.x/2,Qy.y*=i.y/2,nb.start.copy(Zy),nb.start.z=0,nb.end.copy(Qy),nb.end.z=0;let o=nb.closestPointToPointParameter(eb,!0);nb.at(o,rb);let l=Hu.lerp(Zy.z,Qy.z,o),d=l>=-1&&l<=1,f=eb.distanceTo(rb)<cb*.5;if(d&&f){nb.start.fromBufferAttribute(s,t),nb.end.fromBufferAttribute(c,t),nb.start.applyMatrix4(a),nb.end.applyMatrix4(a);let r=new Y,i=new Y;sb.distanceSqToSegment(nb.start,nb.end,i,r),n.push({point:i,pointOnLine:r,distance:sb.origin.distanceTo(i),object:e,face:null,faceIndex:t,uv:null,uv1:null})}}}var fb=class extends _p{constructor(e=new qy,t=new Wy({color:Math.random()*16777215})){super(e,t),this.isLineSegments2=!0,this.type=`LineSegments2`}computeLineDistances(){let e=this.geometry,t=e.attributes.instanceStart,n=e.attributes.instanceEnd,r=new Float32Array(2*t.count);for(let e=0,i=0,a=t.count;e<a;e++,i+=2)Yy.fromBufferAttribute(t,e),Xy.fromBufferAttribute(n,e),r[i]=i===0?0:r[i-1],r[i+1]=r[i]+Yy.distanceTo(Xy);let i=new Oh(r,2,1);return e.setAttribute(`instanceDistanceStart`,new qf(i,1,0)),e.setAttribute(`instanceDistanceEnd`,new qf(i,1,1)),this}raycast(e,t){let n=this.material.worldUnits,r=e.camera;if(r===null&&!n&&console.error(`LineSegments2: "Raycaster.camera" needs to be set in order to raycast against LineSegments2 while worldUnits is set to false.`),n===!1&&(this.material.resolution.x===0||this.material.resolution.y===0))return;let i=e.params.Line2===void 0?0:e.params.Line2.threshold||0;sb=e.ray;let a=this.matrixWorld,o=this.geometry,s=this.material;cb=s.linewidth+i,o.boundingSphere===null&&o.computeBoundingSphere(),ab.copy(o.boundingSphere).applyMatrix4(a);let c;if(c=n?cb*.5:lb(r,Math.max(r.near,ab.distanceToPoint(sb.origin)),s.resolution),ab.radius+=c,sb.intersectsSphere(ab)===!1)return;o.boundingBox===null&&o.computeBoundingBox(),ib.copy(o.boundingBox).applyMatrix4(a);let l;l=n?cb*.5:lb(r,Math.max(r.near,ib.distanceToPoint(sb.origin)),s.resolution),ib.expandByScalar(l),sb.intersectsBox(ib)!==!1&&(n?ub(this,t):db(this,r,t))}onBeforeRender(e){let t=this.material.uniforms;t&&t.resolution&&(e.getViewport(Jy),this.material.uniforms.resolution.value.set(Jy.z,Jy.w))}};function pb(e,t=!1){let n=e[0].index!==null,r=new Set(Object.keys(e[0].attributes)),i=new Set(Object.keys(e[0].morphAttributes)),a={},o={},s=e[0].morphTargetsRelative,c=new Uf;c.morphTargetsRelative=s;let l=0;for(let u=0;u<e.length;++u){let d=e[u],f=0,p=0;if(n!==(d.index!==null))return console.error(`THREE.BufferGeometryUtils: .mergeGeometries() failed with geometry at index `+u+`. All geometries must have compatible attributes; make sure index attribute exists among all geometries, or in none of them.`),null;for(let e in d.attributes){if(!r.has(e))return console.error(`THREE.BufferGeometryUtils: .mergeGeometries() failed with geometry at index `+u+`. All geometries must have compatible attributes; make sure "`+e+`" attribute exists among all geometries, or in none of them.`),null;a[e]===void 0&&(a[e]=[]),a[e].push(d.attributes[e]),f++}if(f!==r.size)return console.error(`THREE.BufferGeometryUtils: .mergeGeometries() failed with geometry at index `+u+`. Make sure all geometries have the same number of attributes.`),null;if(s!==d.morphTargetsRelative)return console.error(`THREE.BufferGeometryUtils: .mergeGeometries() failed with geometry at index `+u+`. .morphTargetsRelative must be consistent throughout all geometries.`),null;for(let t in d.morphAttributes){if(!i.has(t))return console.error(`THREE.BufferGeometryUtils: .mergeGeometries() failed with geometry at index `+u+`.  .morphAttributes must be consistent throughout all geometries.`),null;if(d.morphAttributes[t].length!==e[0].morphAttributes[t].length)return console.error(`THREE.BufferGeometryUtils: .mergeGeometries() failed with geometry at index `+u+`. All geometries must have the same number of morph targets for the "`+t+`" morph attribute.`),null;o[t]===void 0&&(o[t]=[]),o[t].push(d.morphAttributes[t]),p++}if(p!==i.size)return console.error(`THREE.BufferGeometryUtils: .mergeGeometries() failed with geometry at index `+u+`. Make sure all geometries have the same number of morph attributes.`),null;if(t){let e;if(n)e=d.index.count;else if(d.attributes.position!==void 0)e=d.attributes.position.count;else return console.error(`THREE.BufferGeometryUtils: .mergeGeometries() failed with geometry at index `+u+`. The geometry must have either an index or a position attribute`),null;c.addGroup(l,e,u),l+=e}}if(n){let t=0,n=[];for(let r=0;r<e.length;++r){let i=e[r].index;for(let e=0;e<i.count;++e)n.push(i.getX(e)+t);t+=e[r].attributes.position.count}c.setIndex(n)}for(let e in a){let t=mb(a[e]);if(!t)return console.error(`THREE.BufferGeometryUtils: .mergeGeometries() failed while trying to merge the `+e+` attribute.`),null;c.setAttribute(e,t)}for(let e in o){let t=o[e][0].length;if(t!==0){c.morphAttributes=c.morphAttributes||{},c.morphAttributes[e]=[];for(let n=0;n<t;++n){let t=[];for(let r=0;r<o[e].length;++r)t.push(o[e][r][n]);let r=mb(t);if(!r)return console.error(`THREE.BufferGeometryUtils: .mergeGeometries() failed while trying to merge the `+e+` morphAttribute.`),null;c.morphAttributes[e].push(r)}}}return c}function mb(e){let t,n,r,i=-1,a=0;for(let o=0;o<e.length;++o){let s=e[o];if(t===void 0&&(t=s.array.constructor),t!==s.array.constructor)return console.error(`THREE.BufferGeometryUtils: .mergeAttributes() failed. BufferAttribute.array must be of consistent array types across matching attributes.`),null;if(n===void 0&&(n=s.itemSize),n!==s.itemSize)return console.error(`THREE.BufferGeometryUtils: .mergeAttributes() failed. BufferAttribute.itemSize must be consistent across matching attributes.`),null;if(r===void 0&&(r=s.normalized),r!==s.normalized)return console.error(`THREE.BufferGeometryUtils: .mergeAttributes() failed. BufferAttribute.normalized must be consistent across matching attributes.`),null;if(i===-1&&(i=s.gpuType),i!==s.gpuType)return console.error(`THREE.BufferGeometryUtils: .mergeAttributes() failed. BufferAttribute.gpuType must be consistent across matching attributes.`),null;a+=s.count*n}let o=new t(a),s=new Of(o,n,r),c=0;for(let t=0;t<e.length;++t){let r=e[t];if(r.isInterleavedBufferAttribute){let e=c/n;for(let t=0,i=r.count;t<i;t++)for(let i=0;i<n;i++){let n=r.getComponent(t,i);s.setComponent(t+e,i,n)}}else o.set(r.array,c);c+=r.count*n}return i!==void 0&&(s.gpuType=i),s}function hb(e,t=1){let n=new wm({color:W(e),transparent:t<1,opacity:t});return new _p(pb([new um(1.7,16,12).scale(1,1,.65),...[.25,.75,1.25,1.75].flatMap(e=>{let t=e*Math.PI,[n,r]=[3.1*Math.cos(t),3.1*Math.sin(t)];return[new em(.22,.22,3.1,8).rotateZ(t-Math.PI/2).translate(n/2,r/2,.2),new dm(1.25,.16,6,20).translate(n,r,.5)]})]),n)}var gb=6,_b=0,vb=1,yb=2,bb=3,xb=5;function Sb(e,t){let{devices:n,server:r,serverBefore:i,optimum:a,rivals:o,boxes:s,candidates:c,selected:l,serverLabels:u}=e,d=[],f=(e,n,r,i,a)=>{let o=e===l;d.push({key:e,text:n,kind:o?`${r} selected`:r,at:t.toScene(i),priority:o?_b:a})},p=(e,n)=>t.toScene(e).distanceTo(t.toScene(n))>gb;r&&f(`planned`,u?.now??`server`,`server`,r,vb),r&&a&&p(r,a)&&f(`optimum`,u?.optimum??`optimum`,`server optimum`,a,vb),i&&(!r||p(r,i))&&f(`server`,u?.before??`before`,`before`,i,vb);for(let{label:e,position:t}of o)f(`rival:${e}`,e,`rival`,t,bb);s.forEach((e,t)=>f(`box:${t}`,`box ${t+1}`,`box`,Cb(e),bb)),c.forEach((e,t)=>f(`candidate:${t}`,`site ${t+1}`,`site`,e,bb));let m=!sy(n)||cy(n);for(let e of n)e.opacity>.02&&!e.dimmed&&f(`device:${e.id}`,e.label,e.state,e.position,m&&uy(e)?yb:xb);return d}var Cb=e=>[(e[0]+e[3])/2,(e[1]+e[4])/2,e[5]],wb=class{viewport;onChange;group=new Bd;surface=new ap({transparent:!0,depthWrite:!1,side:2});wireframe=new ap({transparent:!0,depthWrite:!1,wireframe:!0,opacity:.12});count=0;constructor(e,t){this.viewport=e,this.onChange=t,e.scene.add(this.group)}show(e,t){for(let e of this.group.children)e.geometry.dispose();this.group.clear(),this.viewport.invalidate();let n=e?.shells.length===1;for(let e of[this.surface,this.wireframe])e.color.set(W(`device`)),e.clippingPlanes=this.viewport.clippingPlanes();this.surface.opacity=n?.13:.05;for(let r of e?.shells??[]){let i=t.get(r.id);if(!i)continue;let a=Tb(e.elevation_deg,r.radius_m,this.viewport.unit,i[2]>0,Math.max(...this.viewport.region)),o=[this.surface,...n?[this.wireframe]:[]].map(e=>new _p(a,e));for(let e of o)e.name=r.id;this.group.add(...o)}this.move(t),this.count=new Set(this.group.children.map(e=>e.name)).size,this.onChange()}move(e){for(let t of this.group.children)t.position.copy(this.viewport.toScene(e.get(t.name)));this.viewport.invalidate()}};function Tb(e,t,n,r,i){let a=e.map((e,r)=>{let a=Math.min(t[r]??i,2*i)*n,o=e*Math.PI/180;return new J(Math.max(a*Math.cos(o),.001),a*Math.sin(o))}),o=new sm([...r?a.slice(1).reverse().map(e=>new J(e.x,-e.y)):[],...a],36);return o.rotateX(Math.PI/2),o}var Eb={devices:[],server:null,serverBefore:null,path:[],boxes:[],candidates:[],rivals:[],selected:null},Db=12,Ob=class{viewport;state=Eb;objectiveMap;reachShells;devices;group=new Bd;listeners=[];sites=new Bd;drawnSites=``;drone=hb(`server`);droneBefore=hb(`faint`,.55);droneOptimum=hb(`server`,.35);links=null;linkMaterial=new Wy({linewidth:2.2,vertexColors:!0});thinLinks=new wy(new Ip({vertexColors:!0}));stems=new wy(new Ip);moveLine=new wy(new Dm({dashSize:1.6,gapSize:1.2}));trail=new wy(new Ip({vertexColors:!0}));constructor(e){this.viewport=e,this.devices=new ly(e),e.scene.add(this.group,this.devices.group,this.sites,this.drone,this.droneBefore,this.droneOptimum,this.thinLinks.object,this.stems.object,this.moveLine.object,this.trail.object),this.reachShells=new wb(e,()=>this.notify()),this.objectiveMap=new Ay(e,()=>this.notify()),ca(()=>this.changeTheme())}changeTheme(){this.drawnSites=``;for(let e of[this.drone,this.droneBefore,this.droneOptimum])e.removeFromParent();[this.drone,this.droneBefore,this.droneOptimum]=[hb(`server`),hb(`faint`,.55),hb(`server`,.35)],this.viewport.scene.add(this.drone,this.droneBefore,this.droneOptimum),this.draw(this.state)}draw(e){this.state=e,this.devices.draw(e.devices,e.selected),this.drawStems(),this.drawLinks(),this.drawServer(),this.drawSites(),this.viewport.labels.mostOrdinary=sy(e.devices)?Db:1/0,this.viewport.labels.set(`network`,Sb(e,this.viewport)),this.viewport.invalidate(),this.notify()}onDraw(e){this.listeners.push(e)}notify(){this.listeners.forEach(e=>e())}drawStems(){let{devices:e,server:t}=this.state,n=e.filter(e=>e.position[2]>0&&e.opacity>.02&&!e.dimmed).map(e=>e.position),r=(t?[...n,t]:n).flatMap(e=>{let{x:t,y:n,z:r}=this.viewport.toScene(e);return[t,n,r,t,n,0]});this.stems.material.color.set(W(`stem`)),this.stems.set(r)}drawLinks(){this.links?.removeFromParent(),this.links?.geometry.dispose(),this.links=null,this.thinLinks.set([],[]);let{devices:e,server:t}=this.state;if(!t)return;let n=this.viewport.toScene(t),[r,i]=[[],[]],[a,o]=[new Z(W(`low`)),new Z(W(`high`))];for(let t of e){if(t.linkLoad===null||t.dimmed)continue;let e=this.viewport.toScene(t.position),{r:s,g:c,b:l}=a.clone().lerp(o,Math.min(1,Math.max(0,t.linkLoad)));r.push(e.x,e.y,e.z,n.x,n.y,n.z),i.push(s,c,l,s,c,l)}if(!r.length)return;if(sy(e)){this.thinLinks.set(r,i);return}let s=new qy;s.setPositions(r),s.setColors(i),this.links=new fb(s,this.linkMaterial),this.links.frustumCulled=!1,this.group.add(this.links)}drawServer(){let{server:e,serverBefore:t,optimum:n,path:r}=this.state,[i,a,o]=[e,t,n].map(e=>e&&this.viewport.toScene(e));for(let[e,t]of[[this.drone,i],[this.droneBefore,a],[this.droneOptimum,o]])e.visible=!!t,t&&e.position.copy(t);this.moveLine.material.color.set(W(`server`)),this.moveLine.set(i&&a?[...a.toArray(),...i.toArray()]:[]),this.drawTrail(r.map(e=>this.viewport.toScene(e)))}drawTrail(e){let[t,n]=[new Z(W(`server`)),new Z(W(`ground`))],r=r=>n.clone().lerp(t,.25+.75*r/e.length).toArray(),[i,a]=[[],[]];for(let t=1;t<e.length;t++)i.push(...e[t-1].toArray(),...e[t].toArray()),a.push(...r(t-1),...r(t));this.trail.set(i,a)}drawSites(){let{boxes:e,candidates:t,selected:n,rivals:r}=this.state,i=JSON.stringify([e,t,n,r,this.viewport.unit]);if(i!==this.drawnSites){this.drawnSites=i,Ey(this.sites),e.forEach((e,t)=>this.sites.add(this.boxMesh(e,n===`box:${t}`))),t.forEach((e,t)=>{this.sites.add(this.siteMesh(e,`candidate`,n===`candidate:${t}`))});for(let{position:e}of r)this.sites.add(this.siteMesh(e,`muted`,!1))}}boxMesh(e,t){let[n,r]=[this.viewport.toScene(e.slice(0,3)),this.viewport.toScene(e.slice(3,6))],i=new $p(...r.clone().sub(n).toArray()),a=new _p(i,new ap({color:W(`box`),transparent:!0,opacity:t?.3:.18,depthWrite:!1})),o=new Jp(new om(i),new Ip({color:W(`box`)})),s=new Bd().add(a,o);return s.position.copy(n.add(r).multiplyScalar(.5)),s}siteMesh(e,t,n){let{x:r,y:i,z:a}=this.viewport.toScene(e),o=new _p(new cm(n?2.4:1.7),new ap({color:W(t),wireframe:!0}));return o.position.set(r,i,a),new Bd().add(o,Ty([r,i,a,r,i,0],W(`stem`)))}};function kb(e){let t=S(`Show the whole region`,()=>e.resetCamera(),{icon:`home`,quiet:!0,title:`Show the whole region (Home)`}),n=h(`button`,{type:`button`,"aria-label":`Top view`,onclick:()=>e.setTop(!e.top)},`Top`),r=()=>{n.setAttribute(`aria-pressed`,String(e.top)),n.title=e.top?`Show in 3-D (T)`:`Show from above (T)`};e.onCamera(r),r();let i=h(`div`,{class:`tools`},t,n);return e.host.append(i),e.labels.avoid(i),i}var Ab={type:`change`},jb={type:`start`},Mb={type:`end`},Nb=new ip,Pb=new Zf,Fb=Math.cos(70*Hu.DEG2RAD),Ib=new Y,Lb=2*Math.PI,Rb={NONE:-1,ROTATE:0,DOLLY:1,PAN:2,TOUCH_ROTATE:3,TOUCH_PAN:4,TOUCH_DOLLY_PAN:5,TOUCH_DOLLY_ROTATE:6},zb=1e-6,Bb=class extends Hh{constructor(e,t=null){super(e,t),this.state=Rb.NONE,this.target=new Y,this.cursor=new Y,this.minDistance=0,this.maxDistance=1/0,this.minZoom=0,this.maxZoom=1/0,this.minTargetRadius=0,this.maxTargetRadius=1/0,this.minPolarAngle=0,this.maxPolarAngle=Math.PI,this.minAzimuthAngle=-1/0,this.maxAzimuthAngle=1/0,this.enableDamping=!1,this.dampingFactor=.05,this.enableZoom=!0,this.zoomSpeed=1,this.enableRotate=!0,this.rotateSpeed=1,this.keyRotateSpeed=1,this.enablePan=!0,this.panSpeed=1,this.screenSpacePanning=!0,this.keyPanSpeed=7,this.zoomToCursor=!1,this.autoRotate=!1,this.autoRotateSpeed=2,this.keys={LEFT:`ArrowLeft`,UP:`ArrowUp`,RIGHT:`ArrowRight`,BOTTOM:`ArrowDown`},this.mouseButtons={LEFT:Oc.ROTATE,MIDDLE:Oc.DOLLY,RIGHT:Oc.PAN},this.touches={ONE:kc.ROTATE,TWO:kc.DOLLY_PAN},this.target0=this.target.clone(),this.position0=this.object.position.clone(),this.zoom0=this.object.zoom,this._cursorStyle=`auto`,this._domElementKeyEvents=null,this._lastPosition=new Y,this._lastQuaternion=new Uu,this._lastTargetPosition=new Y,this._quat=new Uu().setFromUnitVectors(e.up,new Y(0,1,0)),this._quatInverse=this._quat.clone().invert(),this._spherical=new Nh,this._sphericalDelta=new Nh,this._scale=1,this._panOffset=new Y,this._rotateStart=new J,this._rotateEnd=new J,this._rotateDelta=new J,this._panStart=new J,this._panEnd=new J,this._panDelta=new J,this._dollyStart=new J,this._dollyEnd=new J,this._dollyDelta=new J,this._dollyDirection=new Y,this._mouse=new J,this._performCursorZoom=!1,this._pointers=[],this._pointerPositions={},this._controlActive=!1,this._onPointerMove=Hb.bind(this),this._onPointerDown=Vb.bind(this),this._onPointerUp=Ub.bind(this),this._onContextMenu=Xb.bind(this),this._onMouseWheel=Kb.bind(this),this._onKeyDown=qb.bind(this),this._onTouchStart=Jb.bind(this),this._onTouchMove=Yb.bind(this),this._onMouseDown=Wb.bind(this),this._onMouseMove=Gb.bind(this),this._interceptControlDown=Zb.bind(this),this._interceptControlUp=Qb.bind(this),this.domElement!==null&&this.connect(this.domElement),this.update()}set cursorStyle(e){this._cursorStyle=e,e===`grab`?this.domElement.style.cursor=`grab`:this.domElement.style.cursor=`auto`}get cursorStyle(){return this._cursorStyle}connect(e){super.connect(e),this.domElement.addEventListener(`pointerdown`,this._onPointerDown),this.domElement.addEventListener(`pointercancel`,this._onPointerUp),this.domElement.addEventListener(`contextmenu`,this._onContextMenu),this.domElement.addEventListener(`wheel`,this._onMouseWheel,{passive:!1}),this.domElement.ownerDocument.addEventListener(`keydown`,this._interceptControlDown,{passive:!0,capture:!0}),this.domElement.style.touchAction=`none`}disconnect(){this.state=Rb.NONE,this.domElement.removeEventListener(`pointerdown`,this._onPointerDown),this.domElement.ownerDocument.removeEventListener(`pointermove`,this._onPointerMove),this.domElement.ownerDocument.removeEventListener(`pointerup`,this._onPointerUp),this.domElement.removeEventListener(`pointercancel`,this._onPointerUp),this.domElement.removeEventListener(`wheel`,this._onMouseWheel),this.domElement.removeEventListener(`contextmenu`,this._onContextMenu),this.stopListenToKeyEvents(),this.domElement.ownerDocument.removeEventListener(`keydown`,this._interceptControlDown,{capture:!0}),this.domElement.ownerDocument.removeEventListener(`keyup`,this._interceptControlUp,{capture:!0}),this._controlActive=!1,this._pointers.length=0,this._pointerPositions={},this.domElement.style.touchAction=``,this.domElement.style.cursor=`auto`}dispose(){this.disconnect()}getPolarAngle(){return this._spherical.phi}getAzimuthalAngle(){return this._spherical.theta}getDistance(){return this.object.position.distanceTo(this.target)}listenToKeyEvents(e){e.addEventListener(`keydown`,this._onKeyDown),this._domElementKeyEvents=e}stopListenToKeyEvents(){this._domElementKeyEvents!==null&&(this._domElementKeyEvents.removeEventListener(`keydown`,this._onKeyDown),this._domElementKeyEvents=null)}saveState(){this.target0.copy(this.target),this.position0.copy(this.object.position),this.zoom0=this.object.zoom}reset(){this.target.copy(this.target0),this.object.position.copy(this.position0),this.object.zoom=this.zoom0,this.object.updateProjectionMatrix(),this.dispatchEvent(Ab),this.update(),this.state=Rb.NONE}pan(e,t){this._pan(e,t),this.update()}dollyIn(e){this._dollyIn(e),this.update()}dollyOut(e){this._dollyOut(e),this.update()}rotateLeft(e){this._rotateLeft(e),this.update()}rotateUp(e){this._rotateUp(e),this.update()}update(e=null){let t=this.object.position;Ib.copy(t).sub(this.target),Ib.applyQuaternion(this._quat),this._spherical.setFromVector3(Ib),this.autoRotate&&this.state===Rb.NONE&&this._rotateLeft(this._getAutoRotationAngle(e)),this.enableDamping?(this._spherical.theta+=this._sphericalDelta.theta*this.dampingFactor,this._spherical.phi+=this._sphericalDelta.phi*this.dampingFactor):(this._spherical.theta+=this._sphericalDelta.theta,this._spherical.phi+=this._sphericalDelta.phi);let n=this.minAzimuthAngle,r=this.maxAzimuthAngle;isFinite(n)&&isFinite(r)&&(n<-Math.PI?n+=Lb:n>Math.PI&&(n-=Lb),r<-Math.PI?r+=Lb:r>Math.PI&&(r-=Lb),n<=r?this._spherical.theta=Math.max(n,Math.min(r,this._spherical.theta)):this._spherical.theta=this._spherical.theta>(n+r)/2?Math.max(n,this._spherical.theta):Math.min(r,this._spherical.theta)),this._spherical.phi=Math.max(this.minPolarAngle,Math.min(this.maxPolarAngle,this._spherical.phi)),this._spherical.makeSafe(),this.enableDamping===!0?this.target.addScaledVector(this._panOffset,this.dampingFactor):this.target.add(this._panOffset),this.target.sub(this.cursor),this.target.clampLength(this.minTargetRadius,this.maxTargetRadius),this.target.add(this.cursor);let i=!1;if(this.zoomToCursor&&this._performCursorZoom||this.object.isOrthographicCamera)this._spherical.radius=this._clampDistance(this._spherical.radius);else{let e=this._spherical.radius;this._spherical.radius=this._clampDistance(this._spherical.radius*this._scale),i=e!=this._spherical.radius}if(Ib.setFromSpherical(this._spherical),Ib.applyQuaternion(this._quatInverse),t.copy(this.target).add(Ib),this.object.lookAt(this.target),this.enableDamping===!0?(this._sphericalDelta.theta*=1-this.dampingFactor,this._sphericalDelta.phi*=1-this.dampingFactor,this._panOffset.multiplyScalar(1-this.dampingFactor)):(this._sphericalDelta.set(0,0,0),this._panOffset.set(0,0,0)),this.zoomToCursor&&this._performCursorZoom){let e=null;if(this.object.isPerspectiveCamera){let t=Ib.length();e=this._clampDistance(t*this._scale);let n=t-e;this.object.position.addScaledVector(this._dollyDirection,n),this.object.updateMatrixWorld(),i=!!n}else if(this.object.isOrthographicCamera){let t=new Y(this._mouse.x,this._mouse.y,0);t.unproject(this.object);let n=this.object.zoom;this.object.zoom=Math.max(this.minZoom,Math.min(this.maxZoom,this.object.zoom/this._scale)),this.object.updateProjectionMatrix(),i=n!==this.object.zoom;let r=new Y(this._mouse.x,this._mouse.y,0);r.unproject(this.object),this.object.position.sub(r).add(t),this.object.updateMatrixWorld(),e=Ib.length()}else console.warn(`WARNING: OrbitControls.js encountered an unknown camera type - zoom to cursor disabled.`),this.zoomToCursor=!1;e!==null&&(this.screenSpacePanning?this.target.set(0,0,-1).transformDirection(this.object.matrix).multiplyScalar(e).add(this.object.position):(Nb.origin.copy(this.object.position),Nb.direction.set(0,0,-1).transformDirection(this.object.matrix),Math.abs(this.object.up.dot(Nb.direction))<Fb?this.object.lookAt(this.target):(Pb.setFromNormalAndCoplanarPoint(this.object.up,this.target),Nb.intersectPlane(Pb,this.target))))}else if(this.object.isOrthographicCamera){let e=this.object.zoom;this.object.zoom=Math.max(this.minZoom,Math.min(this.maxZoom,this.object.zoom/this._scale)),e!==this.object.zoom&&(this.object.updateProjectionMatrix(),i=!0)}return this._scale=1,this._performCursorZoom=!1,i||this._lastPosition.distanceToSquared(this.object.position)>zb||8*(1-this._lastQuaternion.dot(this.object.quaternion))>zb||this._lastTargetPosition.distanceToSquared(this.target)>zb?(this.dispatchEvent(Ab),this._lastPosition.copy(this.object.position),this._lastQuaternion.copy(this.object.quaternion),this._lastTargetPosition.copy(this.target),!0):!1}_getAutoRotationAngle(e){return e===null?Lb/60/60*this.autoRotateSpeed:Lb/60*this.autoRotateSpeed*e}_getZoomScale(e){let t=Math.abs(e*.01);return .95**(this.zoomSpeed*t)}_rotateLeft(e){this._sphericalDelta.theta-=e}_rotateUp(e){this._sphericalDelta.phi-=e}_panLeft(e,t){Ib.setFromMatrixColumn(t,0),Ib.multiplyScalar(-e),this._panOffset.add(Ib)}_panUp(e,t){this.screenSpacePanning===!0?Ib.setFromMatrixColumn(t,1):(Ib.setFromMatrixColumn(t,0),Ib.crossVectors(this.object.up,Ib)),Ib.multiplyScalar(e),this._panOffset.add(Ib)}_pan(e,t){let n=this.domElement;if(this.object.isPerspectiveCamera){let r=this.object.position;Ib.copy(r).sub(this.target);let i=Ib.length();i*=Math.tan(this.object.fov/2*Math.PI/180),this._panLeft(2*e*i/n.clientHeight,this.object.matrix),this._panUp(2*t*i/n.clientHeight,this.object.matrix)}else this.object.isOrthographicCamera?(this._panLeft(e*(this.object.right-this.object.left)/this.object.zoom/n.clientWidth,this.object.matrix),this._panUp(t*(this.object.top-this.object.bottom)/this.object.zoom/n.clientHeight,this.object.matrix)):(console.warn(`WARNING: OrbitControls.js encountered an unknown camera type - pan disabled.`),this.enablePan=!1)}_dollyOut(e){this.object.isPerspectiveCamera||this.object.isOrthographicCamera?this._scale/=e:(console.warn(`WARNING: OrbitControls.js encountered an unknown camera type - dolly/zoom disabled.`),this.enableZoom=!1)}_dollyIn(e){this.object.isPerspectiveCamera||this.object.isOrthographicCamera?this._scale*=e:(console.warn(`WARNING: OrbitControls.js encountered an unknown camera type - dolly/zoom disabled.`),this.enableZoom=!1)}_updateZoomParameters(e,t){if(!this.zoomToCursor)return;this._performCursorZoom=!0;let n=this.domElement.getBoundingClientRect(),r=e-n.left,i=t-n.top,a=n.width,o=n.height;this._mouse.x=r/a*2-1,this._mouse.y=-(i/o)*2+1,this._dollyDirection.set(this._mouse.x,this._mouse.y,1).unproject(this.object).sub(this.object.position).normalize()}_clampDistance(e){return Math.max(this.minDistance,Math.min(this.maxDistance,e))}_handleMouseDownRotate(e){this._rotateStart.set(e.clientX,e.clientY)}_handleMouseDownDolly(e){this._updateZoomParameters(e.clientX,e.clientY),this._dollyStart.set(e.clientX,e.clientY)}_handleMouseDownPan(e){this._panStart.set(e.clientX,e.clientY)}_handleMouseMoveRotate(e){this._rotateEnd.set(e.clientX,e.clientY),this._rotateDelta.subVectors(this._rotateEnd,this._rotateStart).multiplyScalar(this.rotateSpeed);let t=this.domElement;this._rotateLeft(Lb*this._rotateDelta.x/t.clientHeight),this._rotateUp(Lb*this._rotateDelta.y/t.clientHeight),this._rotateStart.copy(this._rotateEnd),this.update()}_handleMouseMoveDolly(e){this._dollyEnd.set(e.clientX,e.clientY),this._dollyDelta.subVectors(this._dollyEnd,this._dollyStart),this._dollyDelta.y>0?this._dollyOut(this._getZoomScale(this._dollyDelta.y)):this._dollyDelta.y<0&&this._dollyIn(this._getZoomScale(this._dollyDelta.y)),this._dollyStart.copy(this._dollyEnd),this.zoomToCursor&&(this._performCursorZoom=!0,this._dollyDirection.set(this._mouse.x,this._mouse.y,1).unproject(this.object).sub(this.object.position).normalize()),this.update()}_handleMouseMovePan(e){this._panEnd.set(e.clientX,e.clientY),this._panDelta.subVectors(this._panEnd,this._panStart).multiplyScalar(this.panSpeed),this._pan(this._panDelta.x,this._panDelta.y),this._panStart.copy(this._panEnd),this.update()}_handleMouseWheel(e){this._updateZoomParameters(e.clientX,e.clientY),e.deltaY<0?this._dollyIn(this._getZoomScale(e.deltaY)):e.deltaY>0&&this._dollyOut(this._getZoomScale(e.deltaY)),this.update()}_handleKeyDown(e){let t=!1;switch(e.code){case this.keys.UP:e.ctrlKey||e.metaKey||e.shiftKey?this.enableRotate&&this._rotateUp(Lb*this.keyRotateSpeed/this.domElement.clientHeight):this.enablePan&&this._pan(0,this.keyPanSpeed),t=!0;break;case this.keys.BOTTOM:e.ctrlKey||e.metaKey||e.shiftKey?this.enableRotate&&this._rotateUp(-Lb*this.keyRotateSpeed/this.domElement.clientHeight):this.enablePan&&this._pan(0,-this.keyPanSpeed),t=!0;break;case this.keys.LEFT:e.ctrlKey||e.metaKey||e.shiftKey?this.enableRotate&&this._rotateLeft(Lb*this.keyRotateSpeed/this.domElement.clientHeight):this.enablePan&&this._pan(this.keyPanSpeed,0),t=!0;break;case this.keys.RIGHT:e.ctrlKey||e.metaKey||e.shiftKey?this.enableRotate&&this._rotateLeft(-Lb*this.keyRotateSpeed/this.domElement.clientHeight):this.enablePan&&this._pan(-this.keyPanSpeed,0),t=!0}t&&(e.preventDefault(),this.update())}_handleTouchStartRotate(e){if(this._pointers.length===1)this._rotateStart.set(e.pageX,e.pageY);else{let t=this._getSecondPointerPosition(e),n=.5*(e.pageX+t.x),r=.5*(e.pageY+t.y);this._rotateStart.set(n,r)}}_handleTouchStartPan(e){if(this._pointers.length===1)this._panStart.set(e.pageX,e.pageY);else{let t=this._getSecondPointerPosition(e),n=.5*(e.pageX+t.x),r=.5*(e.pageY+t.y);this._panStart.set(n,r)}}_handleTouchStartDolly(e){let t=this._getSecondPointerPosition(e),n=e.pageX-t.x,r=e.pageY-t.y,i=Math.sqrt(n*n+r*r);this._dollyStart.set(0,i)}_handleTouchStartDollyPan(e){this.enableZoom&&this._handleTouchStartDolly(e),this.enablePan&&this._handleTouchStartPan(e)}_handleTouchStartDollyRotate(e){this.enableZoom&&this._handleTouchStartDolly(e),this.enableRotate&&this._handleTouchStartRotate(e)}_handleTouchMoveRotate(e){if(this._pointers.length==1)this._rotateEnd.set(e.pageX,e.pageY);else{let t=this._getSecondPointerPosition(e),n=.5*(e.pageX+t.x),r=.5*(e.pageY+t.y);this._rotateEnd.set(n,r)}this._rotateDelta.subVectors(this._rotateEnd,this._rotateStart).multiplyScalar(this.rotateSpeed);let t=this.domElement;this._rotateLeft(Lb*this._rotateDelta.x/t.clientHeight),this._rotateUp(Lb*this._rotateDelta.y/t.clientHeight),this._rotateStart.copy(this._rotateEnd)}_handleTouchMovePan(e){if(this._pointers.length===1)this._panEnd.set(e.pageX,e.pageY);else{let t=this._getSecondPointerPosition(e),n=.5*(e.pageX+t.x),r=.5*(e.pageY+t.y);this._panEnd.set(n,r)}this._panDelta.subVectors(this._panEnd,this._panStart).multiplyScalar(this.panSpeed),this._pan(this._panDelta.x,this._panDelta.y),this._panStart.copy(this._panEnd)}_handleTouchMoveDolly(e){let t=this._getSecondPointerPosition(e),n=e.pageX-t.x,r=e.pageY-t.y,i=Math.sqrt(n*n+r*r);this._dollyEnd.set(0,i),this._dollyDelta.set(0,(this._dollyEnd.y/this._dollyStart.y)**+this.zoomSpeed),this._dollyOut(this._dollyDelta.y),this._dollyStart.copy(this._dollyEnd);let a=(e.pageX+t.x)*.5,o=(e.pageY+t.y)*.5;this._updateZoomParameters(a,o)}_handleTouchMoveDollyPan(e){this.enableZoom&&this._handleTouchMoveDolly(e),this.enablePan&&this._handleTouchMovePan(e)}_handleTouchMoveDollyRotate(e){this.enableZoom&&this._handleTouchMoveDolly(e),this.enableRotate&&this._handleTouchMoveRotate(e)}_addPointer(e){this._pointers.push(e.pointerId)}_removePointer(e){delete this._pointerPositions[e.pointerId];for(let t=0;t<this._pointers.length;t++)if(this._pointers[t]==e.pointerId){this._pointers.splice(t,1);return}}_isTrackingPointer(e){for(let t=0;t<this._pointers.length;t++)if(this._pointers[t]==e.pointerId)return!0;return!1}_trackPointer(e){let t=this._pointerPositions[e.pointerId];t===void 0&&(t=new J,this._pointerPositions[e.pointerId]=t),t.set(e.pageX,e.pageY)}_getSecondPointerPosition(e){let t=e.pointerId===this._pointers[0]?this._pointers[1]:this._pointers[0];return this._pointerPositions[t]}_customWheelEvent(e){let t=e.deltaMode,n={clientX:e.clientX,clientY:e.clientY,deltaY:e.deltaY};switch(t){case 1:n.deltaY*=16;break;case 2:n.deltaY*=100}return e.ctrlKey&&!this._controlActive&&(n.deltaY*=10),n}};function Vb(e){this.enabled!==!1&&(this._pointers.length===0&&(this.domElement.setPointerCapture(e.pointerId),this.domElement.ownerDocument.addEventListener(`pointermove`,this._onPointerMove),this.domElement.ownerDocument.addEventListener(`pointerup`,this._onPointerUp)),this._isTrackingPointer(e)||(this._addPointer(e),e.pointerType===`touch`?this._onTouchStart(e):this._onMouseDown(e),this._cursorStyle===`grab`&&(this.domElement.style.cursor=`grabbing`)))}function Hb(e){this.enabled!==!1&&(e.pointerType===`touch`?this._onTouchMove(e):this._onMouseMove(e))}function Ub(e){switch(this._removePointer(e),this._pointers.length){case 0:this.domElement.releasePointerCapture(e.pointerId),this.domElement.ownerDocument.removeEventListener(`pointermove`,this._onPointerMove),this.domElement.ownerDocument.removeEventListener(`pointerup`,this._onPointerUp),this.dispatchEvent(Mb),this.state=Rb.NONE,this._cursorStyle===`grab`&&(this.domElement.style.cursor=`grab`);break;case 1:let t=this._pointers[0],n=this._pointerPositions[t];this._onTouchStart({pointerId:t,pageX:n.x,pageY:n.y})}}function Wb(e){let t;switch(e.button){case 0:t=this.mouseButtons.LEFT;break;case 1:t=this.mouseButtons.MIDDLE;break;case 2:t=this.mouseButtons.RIGHT;break;default:t=-1}switch(t){case Oc.DOLLY:if(this.enableZoom===!1)return;this._handleMouseDownDolly(e),this.state=Rb.DOLLY;break;case Oc.ROTATE:if(e.ctrlKey||e.metaKey||e.shiftKey){if(this.enablePan===!1)return;this._handleMouseDownPan(e),this.state=Rb.PAN}else{if(this.enableRotate===!1)return;this._handleMouseDownRotate(e),this.state=Rb.ROTATE}break;case Oc.PAN:if(e.ctrlKey||e.metaKey||e.shiftKey){if(this.enableRotate===!1)return;this._handleMouseDownRotate(e),this.state=Rb.ROTATE}else{if(this.enablePan===!1)return;this._handleMouseDownPan(e),this.state=Rb.PAN}break;default:this.state=Rb.NONE}this.state!==Rb.NONE&&this.dispatchEvent(jb)}function Gb(e){switch(this.state){case Rb.ROTATE:if(this.enableRotate===!1)return;this._handleMouseMoveRotate(e);break;case Rb.DOLLY:if(this.enableZoom===!1)return;this._handleMouseMoveDolly(e);break;case Rb.PAN:if(this.enablePan===!1)return;this._handleMouseMovePan(e)}}function Kb(e){this.enabled!==!1&&this.enableZoom!==!1&&this.state===Rb.NONE&&(e.preventDefault(),this.dispatchEvent(jb),this._handleMouseWheel(this._customWheelEvent(e)),this.dispatchEvent(Mb))}function qb(e){this.enabled!==!1&&this._handleKeyDown(e)}function Jb(e){switch(this._trackPointer(e),this._pointers.length){case 1:switch(this.touches.ONE){case kc.ROTATE:if(this.enableRotate===!1){this.state=Rb.NONE;break}this._handleTouchStartRotate(e),this.state=Rb.TOUCH_ROTATE;break;case kc.PAN:if(this.enablePan===!1){this.state=Rb.NONE;break}this._handleTouchStartPan(e),this.state=Rb.TOUCH_PAN;break;default:this.state=Rb.NONE}break;case 2:switch(this.touches.TWO){case kc.DOLLY_PAN:if(this.enableZoom===!1&&this.enablePan===!1)return;this._handleTouchStartDollyPan(e),this.state=Rb.TOUCH_DOLLY_PAN;break;case kc.DOLLY_ROTATE:if(this.enableZoom===!1&&this.enableRotate===!1)return;this._handleTouchStartDollyRotate(e),this.state=Rb.TOUCH_DOLLY_ROTATE;break;default:this.state=Rb.NONE}break;default:this.state=Rb.NONE}this.state!==Rb.NONE&&this.dispatchEvent(jb)}function Yb(e){switch(this._trackPointer(e),this.state){case Rb.TOUCH_ROTATE:if(this.enableRotate===!1)return;this._handleTouchMoveRotate(e),this.update();break;case Rb.TOUCH_PAN:if(this.enablePan===!1)return;this._handleTouchMovePan(e),this.update();break;case Rb.TOUCH_DOLLY_PAN:if(this.enableZoom===!1&&this.enablePan===!1)return;this._handleTouchMoveDollyPan(e),this.update();break;case Rb.TOUCH_DOLLY_ROTATE:if(this.enableZoom===!1&&this.enableRotate===!1)return;this._handleTouchMoveDollyRotate(e),this.update();break;default:this.state=Rb.NONE}}function Xb(e){this.enabled!==!1&&e.preventDefault()}function Zb(e){e.key===`Control`&&(this._controlActive=!0,this.domElement.ownerDocument.addEventListener(`keyup`,this._interceptControlUp,{passive:!0,capture:!0}))}function Qb(e){e.key===`Control`&&(this._controlActive=!1,this.domElement.ownerDocument.removeEventListener(`keyup`,this._interceptControlUp,{passive:!0,capture:!0}))}var $b=1e3,ex=100,tx=38,nx=2*Math.tan(Hu.degToRad(tx/2)),rx=60,ix=2.5,ax=450,ox=class{hooks;perspective=new sh(tx,1,1,3e3);above=new ch(-1,1,1,-1,1,2*$b);top=!1;atHome=!0;orbit;map;flight=null;aspect=1;held=!1;free=1;constructor(e,t){this.hooks=t,this.perspective.up.set(0,0,1),this.above.up.set(0,1,0),this.orbit=new Bb(this.perspective,e),this.map=new Bb(this.above,e),Object.assign(this.orbit,{maxPolarAngle:Math.PI*.495,minDistance:20,maxDistance:600}),Object.assign(this.map,{enableRotate:!1,enabled:!1,zoomToCursor:!0,minZoom:.3,maxZoom:40,mouseButtons:{LEFT:Oc.PAN,MIDDLE:Oc.DOLLY,RIGHT:Oc.PAN},touches:{ONE:kc.PAN,TWO:kc.DOLLY_PAN}});for(let e of[this.orbit,this.map])e.enableDamping=!1,e.addEventListener(`change`,()=>{this.held&&(this.atHome=!1),t.change()}),e.addEventListener(`start`,()=>{[this.flight,this.held]=[null,!0]}),e.addEventListener(`end`,()=>{this.held=!1,t.settled()})}get current(){return this.top?this.above:this.perspective}get controls(){return this.top?this.map:this.orbit}setTop(e){let[t,n]=[this.controls.target.clone(),this.unitsPerPixel(1)];this.flight=null,this.top=e,[this.orbit.enabled,this.map.enabled]=[!e,e],this.place(e?t:t.setZ(this.orbit.target.z),e?ex/n:n/nx),this.hooks.change()}resize(e,t,n){let r=e/t;this.aspect=this.perspective.aspect=r,this.free=Math.max(1-n/t,.5);for(let n of[this.perspective,this.above])n.setViewOffset(e,t,0,t*(1-this.free)/2,e,t);Object.assign(this.above,{left:-50*r,right:ex/2*r,top:ex/2,bottom:-50}),this.perspective.updateProjectionMatrix(),this.above.updateProjectionMatrix()}goHome([e,t,n]){if(this.flight=null,this.atHome=!0,this.top){this.lookDown(e/2,t/2,Math.min(ex*this.free/(1.25*t),ex*this.aspect/(1.35*e)));return}let r=1.5*Math.max(.97/this.free,1.15/this.aspect)*Math.hypot(e,t,n*.8);this.orbit.target.set(e/2,t/2,n*.4),this.perspective.position.set(e/2-r*.4,t/2-r*.8,n*.4+r*.46),this.orbit.update(),this.hooks.change()}lookDown(e,t,n){this.map.target.set(e,t,0),this.above.position.set(e,t,$b),this.above.zoom=Math.min(Math.max(n,this.map.minZoom),this.map.maxZoom),this.above.updateProjectionMatrix(),this.map.update(),this.hooks.change()}numbers(){let{x:e,y:t,z:n}=this.controls.target;if(this.top)return[e,t,ex*this.aspect/this.above.zoom];let r=new Nh().setFromVector3(this.perspective.position.clone().sub(this.orbit.target).applyAxisAngle(sx,-Math.PI/2));return[e,t,n,Hu.radToDeg(r.theta),90-Hu.radToDeg(r.phi),r.radius]}setNumbers(e){if(e.length!==(this.top?3:6)||!e.every(Number.isFinite))return!1;let[t,n,r,i,a,o]=e;if(this.top?r<=0:o<=0)return!1;if(this.flight=null,this.atHome=!1,this.top)this.lookDown(t,n,ex*this.aspect/r);else{let e=new Y().setFromSphericalCoords(o,Hu.degToRad(90-a),Hu.degToRad(i)).applyAxisAngle(sx,Math.PI/2);this.orbit.target.set(t,n,r),this.perspective.position.copy(this.orbit.target).add(e),this.orbit.update(),this.hooks.change()}return!0}unitsPerPixel(e){return this.top?ex/this.above.zoom/e:nx*this.perspective.position.distanceTo(this.orbit.target)/e}get size(){return this.top?this.above.zoom:this.perspective.position.distanceTo(this.orbit.target)}flyTo(e){let t=this.top?Math.max(this.size,ix):Math.min(this.size,rx),n=this.top?e.clone().setZ(0):e.clone();this.atHome=!1,this.flight={begin:performance.now(),from:{target:this.controls.target.clone(),size:this.size},to:{target:n,size:t}},matchMedia(`(prefers-reduced-motion: reduce)`).matches&&(this.flight.begin=-1/0),this.hooks.change()}advance(e){if(!this.flight)return!1;let{begin:t,from:n,to:r}=this.flight,i=Math.min(Math.max((e-t)/ax,0),1),a=i*i*(3-2*i);return this.place(n.target.clone().lerp(r.target,a),n.size*(r.size/n.size)**a),i<1||(this.flight=null,this.hooks.settled(),!1)}place(e,t){if(this.top){this.lookDown(e.x,e.y,t);return}let n=this.perspective.position.clone().sub(this.orbit.target).normalize();this.orbit.target.copy(e),this.perspective.position.copy(e).addScaledVector(n,t),this.orbit.update()}zoom(e){this.atHome=!1,this.place(this.controls.target.clone(),this.top?this.size*e:this.size/e),this.hooks.change(),this.hooks.settled()}turn(e){if(this.top)return;let t=this.numbers();t[3]+=e,this.setNumbers(t),this.hooks.settled()}},sx=new Y(1,0,0);function cx([e,t,n],r){let i=new _p(new lm(e,t),new ap({color:W(`ground`),side:2}));return i.position.set(e/2,t/2,-.15),[i,lx(e,t,r),ux(e,t,n)]}function lx(e,t,n){let r=[];for(let i=0;i<=e+1e-6;i+=n)r.push(i,0,0,i,t,0);for(let i=0;i<=t+1e-6;i+=n)r.push(0,i,0,e,i,0);return Ty(r,W(`grid`))}function ux(e,t,n){let r=[[0,0],[e,0],[e,t],[0,t]],i=[];return r.forEach(([e,t],a)=>{let[o,s]=r[(a+1)%4];i.push(e,t,0,e,t,n,e,t,n,o,s,n,e,t,0,o,s,0)}),Ty(i,W(`edge`))}function dx(e,t,n){let[r,i]=[e[0]*t,e[1]*t],a=[],o=(e,...t)=>a.push({key:`ruler:${a.length}`,text:e,kind:`mark`,at:new Y(...t),priority:4}),s=fx(Math.max(...e)),c=(n,r,i)=>{for(let a=r;a<=e[n]+1e-6;a+=s)o(`${Number(a.toPrecision(6))}`,...i(a*t))},l=.25*s*t;return o(`x, m`,r/2+l,-11,0),o(`y, m`,r+15,i/2+l,0),n||o(`z, m`,-13,-6,e[2]*t/2+l),c(0,0,e=>[e,-4,0]),c(1,s,e=>[r+4,e,0]),n||c(2,s,e=>[-4,-2,e]),a}function fx(e){let t=e/5,n=10**Math.floor(Math.log10(t));return[1,2,2.5,5,10].map(e=>e*n).find(e=>e>=t*.99)??t}var px=100,mx=220,hx=60,gx=8,_x=38,vx=28,yx=class{host;scene=new Jd;canvas;cameras;labels;region=[100,100,100];unit=1;frames=[];dragging=!1;renderer;dirty=!0;software;restRatio;movingRatio;lastChange=0;needsRefinement=!1;framesSinceStep=0;beforeFrameSteps=[];covered=0;regionGroup=new Bd;regionKnown=!1;cameraListeners=[];cameraOfAddress=null;constructor(e){this.host=e;let t=this.software=bx();this.renderer=new ey({antialias:!t,alpha:!1}),this.restRatio=t?1.5:Math.min(devicePixelRatio,2),this.movingRatio=t?1:this.restRatio,this.renderer.localClippingEnabled=!0,this.canvas=this.renderer.domElement,this.canvas.tabIndex=0,this.canvas.setAttribute(`role`,`img`),this.canvas.setAttribute(`aria-label`,`The network in 3-D. T shows it from above, Home shows all of it, plus and minus zoom, brackets turn it.`),this.labels=new xy(this),e.append(this.canvas,this.labels.element),this.cameras=new ox(this.canvas,{change:()=>this.invalidate(),settled:()=>this.cameraMoved()}),this.scene.add(new Ym(16777215,8952234,2.4),this.sun(),this.regionGroup),new ResizeObserver(()=>this.resize()).observe(e),ca(()=>this.buildRegion()),this.canvas.addEventListener(`keydown`,e=>this.handleKey(e)),this.takeRegion(this.region),requestAnimationFrame(e=>this.tick(e))}sun(){let e=new uh(16777215,1.2);return e.position.set(40,-60,120),e}beforeFrame(e){this.beforeFrameSteps.push(e)}invalidate(){this.dirty=!0,this.lastChange=performance.now()}tick(e){if(requestAnimationFrame(e=>this.tick(e)),!this.canvas.isConnected||this.host.offsetParent===null||([this.cameras.advance(e),...this.beforeFrameSteps.map(t=>t(e))].some(Boolean)&&this.invalidate(),this.software&&e-(this.frames.at(-1)??0)<(this.dragging?_x:vx)))return;let t=!this.dragging&&e-this.lastChange>mx;(this.dirty||this.needsRefinement&&t)&&(this.dirty&&this.adaptResolution(e),this.needsRefinement=this.dirty,this.render(this.dirty?this.movingRatio:this.restRatio),this.dirty=!1)}render(e){this.renderer.getPixelRatio()!==e&&this.renderer.setPixelRatio(e),this.renderer.render(this.scene,this.camera),this.labels.place()}adaptResolution(e){this.frames.push(e),this.frames.length>2e3&&this.frames.splice(0,1e3);let t=this.frames.slice(-8),n=(e-t[0])/(t.length-1);this.framesSinceStep++,t.length<gx||this.framesSinceStep<gx||n<hx||n>mx||(this.framesSinceStep=0,this.movingRatio=Math.max(.5,this.movingRatio-.25))}coverBottom(e){this.covered=e,this.resize()}resize(){let{clientWidth:e,clientHeight:t}=this.host;e&&t&&(this.renderer.setSize(e,t,!1),this.cameras.resize(e,t,this.covered),this.cameras.atHome?this.cameras.goHome(this.sides):this.cameraOfAddress!==null&&this.setCamera(this.cameraOfAddress),this.invalidate())}setRegion(e){let t=e.every((e,t)=>e===this.region[t]),n=this.regionKnown?null:this.cameraOfAddress;this.regionKnown=!0,t||this.takeRegion(e),n!==null&&this.setCamera(n)}takeRegion(e){this.region=e,this.unit=px/Math.max(...e),this.buildRegion(),this.resetCamera()}get sides(){return this.region.map(e=>e*this.unit)}clippingPlanes(){let[e,t,n]=this.region.map(e=>e*this.unit),r=(e,t,n,r)=>new Zf(new Y(e,t,n),r);return[r(1,0,0,0),r(-1,0,0,e),r(0,1,0,0),r(0,-1,0,t),r(0,0,1,0),r(0,0,-1,n)]}get camera(){return this.cameras.current}get controls(){return this.cameras.controls}get top(){return this.cameras.top}resetCamera(){this.cameras.goHome(this.sides),this.cameraMoved()}setTop(e){e!==this.top&&(this.cameras.setTop(e),this.labels.set(`rulers`,dx(this.region,this.unit,e)),this.cameras.atHome?this.resetCamera():this.cameraMoved())}flyTo(e){this.cameras.flyTo(this.toScene(e))}onCamera(e){this.cameraListeners.push(e)}cameraMoved(){this.cameraOfAddress=null,this.cameraListeners.forEach(e=>e())}cameraText(){return this.cameraOfAddress===null?this.cameras.atHome?null:this.scaled(this.cameras.numbers(),1/this.unit).map(e=>Number(e.toFixed(1))).join():this.cameraOfAddress}setCamera(e){let t=this.scaled((e??``).split(`,`).map(Number),this.unit);e===null||!this.cameras.setNumbers(t)?this.cameras.goHome(this.sides):this.cameraOfAddress=e}scaled(e,t){return e.map((e,n)=>n===3||n===4?e:e*t)}handleKey(e){if(e.ctrlKey||e.metaKey||e.altKey)return;let t={t:()=>this.setTop(!this.top),Home:()=>this.resetCamera(),"+":()=>this.cameras.zoom(1.25),"=":()=>this.cameras.zoom(1.25),"-":()=>this.cameras.zoom(.8),"[":()=>this.cameras.turn(-15),"]":()=>this.cameras.turn(15)}[e.key.length===1?e.key.toLowerCase():e.key];t&&(e.preventDefault(),t())}toScene(e){return new Y(e[0]*this.unit,e[1]*this.unit,e[2]*this.unit)}toScreen(e){let t=this.toScene(e).project(this.camera);if(t.z>1)return null;let{clientWidth:n,clientHeight:r}=this.canvas;return{x:(t.x+1)*n/2,y:(1-t.y)*r/2}}buildRegion(){Ey(this.regionGroup),this.regionGroup.add(...cx(this.sides,fx(Math.max(...this.region))*this.unit)),this.labels.set(`rulers`,dx(this.region,this.unit,this.top)),this.renderer.setClearColor(W(`page`)),this.invalidate()}};function bx(){let e=document.createElement(`canvas`).getContext(`webgl2`),t=e?.getExtension(`WEBGL_debug_renderer_info`),n=t?String(e.getParameter(t.UNMASKED_RENDERER_WEBGL)):``;return e?.getExtension(`WEBGL_lose_context`)?.loseContext(),/swiftshader|llvmpipe|software/i.test(n)}var xx=24,Sx=200,Cx=class{parts;onDragEnd;viewport;scene;dragging=!1;drawnShells=``;refreshMap=ic(160,()=>this.drawObjectiveMap());refreshShells=ic(30,()=>this.drawReachShells());constructor(e,t,n){this.parts=t,this.onDragEnd=n,this.viewport=new yx(e);let{canvas:r}=this.viewport;r.setAttribute(`role`,`application`),r.setAttribute(`aria-label`,`The network in 3-D. Space selects the server, then each device, and last the planned server. Arrow keys move the selection, Page Up and Page Down lift it, Delete removes it, Escape deselects it. T shows it from above, Home shows all of it, plus and minus zoom, brackets turn it.`),this.scene=new Ob(this.viewport),this.addToolbar(this.addDragging()),new Uy(this.scene),r.addEventListener(`keydown`,e=>this.handleKey(e))}get model(){return this.parts.model}addToolbar(e){let t=S(`Drag up and down`,()=>{let n=t.getAttribute(`aria-pressed`)!==`true`;t.setAttribute(`aria-pressed`,String(n)),e.vertical=n},{icon:`updown`,quiet:!0,"aria-pressed":`false`,title:`Drag up and down (or hold Shift)`});kb(this.viewport).append(t)}addDragging(){return new ny(this.viewport,()=>this.handles(),{pick:e=>this.model.select(e),move:(e,t)=>{this.dragging=!0,this.model.move(e,t)},done:()=>{this.dragging=!1,this.refreshMap(),this.onDragEnd()}})}handles(){let{request:e}=this.model;if(!e)return[];let t=this.model.position(`planned`);return[...t?[{key:`planned`,position:t}]:[],{key:`server`,position:e.server.position_m},...e.devices.map(e=>({key:`device:${e.id}`,position:e.position_m})),...e.keep_out_m.map((e,t)=>({key:`box:${t}`,position:tc(e)})),...(e.candidates_m??[]).map((e,t)=>({key:`candidate:${t}`,position:e}))]}handleKey(e){let{selected:t}=this.model,n=t?this.model.position(t):null,r=(e.shiftKey?.1:.01)*Math.max(...this.model.request.region_m),i={ArrowLeft:[-r,0,0],ArrowRight:[r,0,0],ArrowUp:[0,r,0],ArrowDown:[0,-r,0],PageUp:[0,0,r],PageDown:[0,0,-r]};if(e.key===`Escape`&&!this.model.whatIf)this.model.select(null);else if(e.key===` `)this.selectNext(e.shiftKey?-1:1);else if(t&&(e.key===`Delete`||e.key===`Backspace`))this.model.remove();else if(t&&n&&i[e.key]){let r=this.model.request.region_m;this.model.move(t,n.map((t,n)=>Math.min(Math.max(Math.round(10*(t+i[e.key][n]))/10,0),r[n])))}else return;e.preventDefault()}selectNext(e){let t=this.handles().map(e=>e.key);t[0]===`planned`&&t.push(t.shift());let n=this.model.selected===null?e>0?-1:0:t.indexOf(this.model.selected);this.model.select(t[(n+e+t.length)%t.length])}draw(){let{model:e,parts:{choices:t,finder:n,rivals:r,whatIf:i}}=this,{request:a,shownPlan:o,plan:s,selected:c}=e;if(!a)return;let l=Us(i.forbidden?null:o),u=n.narrow?new Set(n.found.map(({id:e})=>e)):null,d=a.devices.map(e=>{let n=l.get(e.id),r=t.links===`delay`?(n?.delay_s??0)/a.max_delay_s:(n?.power_w??0)/Math.max(e.max_power_w,1e-12),i={id:e.id,position:e.position_m,opacity:1,dimmed:u!==null&&!u.has(e.id)&&c!==`device:${e.id}`};return n?.active?{...i,state:`active`,linkLoad:r,label:`${e.id} · ${na(n.iterations)} it`}:{...i,state:`off`,linkLoad:null,label:e.id}}),f=s?.server.position_m??null;this.scene.draw({devices:d,server:e.whatIf??f,serverBefore:a.server.position_m,optimum:e.whatIf?f:null,path:[],boxes:a.keep_out_m,candidates:a.candidates_m??[],rivals:r.positions,selected:c,serverLabels:{now:e.whatIf?i.label:`planned server`,before:`server before the round`,optimum:`optimum`},links:t.links===`delay`?{measure:`delay`,low:`0`,high:`${Xi(a.max_delay_s)} (limit)`}:{measure:`power`,low:`0 %`,high:`100 % of its limit`}})}async drawObjectiveMap(){let{choices:e}=this.parts,t=e.showAltitude();if(e.map===`none`){this.scene.objectiveMap.show(null);return}let n=this.dragging?31:this.model.request.devices.length>Sx?41:121;try{this.scene.objectiveMap.show(await m.surface(this.model.requestText(),t,n))}catch{this.scene.objectiveMap.show(null)}}async drawReachShells(){let{request:e,selected:t}=this.model,{reachShells:n}=this.scene,{shells:r}=this.parts.choices,i=r===`none`?[]:r===`all`?e.devices.slice(0,xx):e.devices.filter(e=>t===`device:${e.id}`);if(!i.length){this.drawnShells=``,n.show(null,new Map);return}let a=new Map(i.map(e=>[e.id,e.position_m])),o=JSON.stringify([e.radio,e.max_delay_s,i.map(e=>({...e,position_m:e.position_m[2]>0}))]);if(o===this.drawnShells)n.move(a);else{this.drawnShells=o;try{n.show(await m.reach({...e,candidates_m:null,devices:i}),a)}catch{n.show(null,a)}}}},wx={out_of_reach:`is out of reach`,clock_too_slow:`has too slow a clock for one iteration`,not_worth_it:`is not worth its energy`,battery:`saves its battery`},Tx={out_of_reach:`it would be out of reach`,clock_too_slow:`its clock would be too slow`,not_worth_it:`it would not be worth its energy`,battery:`it would save its battery`},Ex=e=>String(Number(e.toPrecision(4)));function Dx(e,t,n){let[r,i]=n.find(([t])=>e>=t)??n.at(-1);return`${Ex(e/r)} ${i}${t}`}var Ox=[[1,``],[.001,`m`],[1e-6,`µ`]],kx=[[1,``],[.001,`m`],[1e-6,`µ`],[1e-9,`n`]],Ax=[[1e9,`G`],[1e6,`M`],[1e3,`k`],[1,``]];function jx({setting:e,now:t,value:n}){let r=t>0?` (${U(Math.ceil(100*Math.log10(n/t))/10,2)} dB more)`:``;switch(e){case`max_delay_s`:return`a delay limit of ${Dx(n,`s`,Ox)}`;case`max_power_w`:return`a transmit limit of ${Dx(n,`W`,kx)}${r}`;case`cpu_max_hz`:return`a clock of ${Dx(n,`Hz`,Ax)}`;case`compute_deadline_s`:return`a compute deadline of ${Dx(n,`s`,Ox)}`;case`max_iterations`:return`a limit of 1 iteration`;case`importance`:return`an importance of ${Ex(n)}`;case`weights.transmission`:return`a transmission weight of ${Ex(n)}`}}function Mx(e){if(!e.length)return`no single setting would help.`;let t=e.filter(e=>e.then===null).map(jx);return t.length?`${[`${t[0]} would do`,...t.slice(1)].join(`, or `)}.`:`${[...new Set(e.map(e=>e.then))].map(t=>`with ${e.filter(e=>e.then===t).map(jx).join(` or `)} ${Tx[t]}`).join(`; `)}.`}function Nx(e){let t=(e?.changes??[]).filter(e=>e.then===null&&e.now>0);return Math.min(...t.map(({now:e,value:t})=>Math.abs(Math.log(t/e))),Number.MAX_VALUE)}function Px(e,t,n,r){let i=new Map(t.map(e=>[e.id,e])),a=e.devices.filter(e=>!e.active).sort((e,t)=>Nx(i.get(e.id))-Nx(i.get(t.id))),o=a.filter(({id:e})=>`device:${e}`===r);return[...new Set([...o,...a])].slice(0,n).map(({id:e,reason:t})=>{let n=`${e} ${wx[t??`not_worth_it`]}`,r=i.get(e);return r?`${n}: ${Mx(r.changes)}`:`${n}.`})}var Fx=3,Ix=class{model;element=h(`div`,{class:`verdict`,role:`status`,hidden:!0});title=h(`strong`);lines=h(`ul`);shown=null;known=null;constructor(e){this.model=e,this.element.append(this.title,this.lines),e.onChange(e=>{e===`selection`&&this.shown&&this.show(this.shown.plan,this.shown.live)})}show(e,t){this.shown={plan:e,live:t};let n=this.known?.version===this.model.version?this.known.resting:[],{kind:r,text:i}=Lx(e);this.element.className=`verdict ${r}`,this.element.hidden=!1,_(this.title,i);let a=e.devices.filter(e=>!e.active).length,o=t?[]:Px(e,n,Fx,this.model.selected);o.length&&a>Fx&&o.push(`${a-Fx} more: select one in the table to see what would help.`),o.join()!==this.lines.dataset.shown&&(this.lines.dataset.shown=o.join(),g(this.lines,...o.map(e=>h(`li`,{},e))))}async explain(e){let{version:t}=this.model;if(!(this.known?.version===t||e.devices.every(e=>e.active)))try{let{devices:n}=await m.leastChanges(this.model.requestText(),e.server.position_m);if(t!==this.model.version)return;this.known={version:t,resting:n},this.show(e,!1)}catch{}}showError(e){this.shown=null,this.element.className=`verdict bad`,this.element.hidden=!1,this.lines.dataset.shown=``,_(this.title,e),g(this.lines)}};function Lx(e){let[t,n]=[e.devices.length,e.devices.filter(e=>e.active).length];if(!t)return{kind:`partial`,text:`There is no device yet: add one.`};if(!n)return{kind:`bad`,text:`No device is heard.`};if(e.violations.length)return{kind:`bad`,text:`The plan breaks ${ea(e.violations.length,`limit`)}.`};if(n<t)return{kind:`partial`,text:`${n} of ${ea(t,`device`)} ${n===1?`is`:`are`} heard.`};let r=t===1?`The device is heard.`:`All ${t} devices are heard.`;return e.status===`optimal`?{kind:`good`,text:r}:{kind:`partial`,text:`${r} A better plan may exist.`}}var Rx=[`convergence`,`transmission`,`processing`,`movement`],zx=1e-6,Bx=class{element;status;objective=h(`output`,{class:`big`,"aria-label":`Objective, lower is better`},`–`);title=h(`h2`,{},`Objective`);versus=h(`p`,{class:`versus`});proof=h(`p`,{class:`proof`});pace=h(`p`,{class:`pace`});bars=Rx.map(e=>h(`i`,{class:e}));values=Rx.map(()=>h(`dd`));terms=h(`div`,{class:`terms`});constructor(e){this.status=new Ix(e),this.element=h(`section`,{class:`answer`},h(`div`,{class:`headline`},this.title,h(`span`,{class:`hint`},`weighted cost, lower is better`),this.objective),this.versus,this.status.element,this.proof,this.pace,this.terms),e.onChange(()=>_(this.title,e.whatIf?`Optimum`:`Objective`))}show(e,t,n,r){this.terms.children.length||this.buildTerms(),_(this.objective,U(e.objective,5)),this.status.show(e,t),_(this.proof,Vx(e));let i=t?`, ${r} plans a second`:``;_(this.pace,`Solved in ${Xi(e.solve_seconds)}, round trip ${Xi(n/1e3)}${i}`);let a=Math.max(e.objective,1e-12);Rx.forEach((t,n)=>{this.bars[n].style.flexGrow=String(Math.max(e.weighted[t]/a,0)),_(this.values[n],U(e.weighted[t]))})}showRivals(e){_(this.versus,e.comparison())}buildTerms(){g(this.terms,h(`div`,{class:`stack`},...this.bars),h(`dl`,{},...Rx.flatMap((e,t)=>[h(`dt`,{class:e},e),this.values[t]])))}showError(e){_(this.objective,`–`),_(this.versus,``),_(this.proof,``),this.status.showError(e.faults.slice(0,3).map(e=>`${e.field}: ${e.found}, ${e.allowed}`).join(`. `)),_(this.pace,e.status===0?``:`The scene shows the last plan.`)}};function Vx(e){return e.gap===null||!e.devices.some(e=>e.active)?``:`The objective is within ${Ji(Math.max(e.gap,zx))} of the optimum${e.status===`optimal`?`, proven`:` so far`}.`}var Hx={gap:.01,seconds:.1},Ux={gap:1e-4,seconds:10},Wx={gap:.001,seconds:5},Gx=200,Kx=250,qx=class{model;onPlan;onError;answers=[];inFlight=0;requestedVersion=-1;shownVersion=-1;refinedVersion=-1;timer=0;refinement=null;constructor(e,t,n){this.model=e,this.onPlan=t,this.onError=n}networkChanged(){clearTimeout(this.timer),this.refinement?.abort(),this.schedule()}isCrowd(){return this.model.request.devices.length>Gx}async requestPlan(e){let t=this.model.version,{gap:n,seconds:r}=e?Hx:this.isCrowd()?Wx:Ux;e&&this.inFlight++,this.requestedVersion=t;let i=e?void 0:(this.refinement=new AbortController).signal,a=performance.now();try{let o=await m.plan(this.model.requestText(),`exact`,n,r,i),s=performance.now()-a;!e&&t===this.model.version&&(this.refinedVersion=t);let c=t<this.shownVersion||!e&&t!==this.model.version;this.shownVersion=Math.max(this.shownVersion,t),c||this.accept(o,e,s)}catch(e){e instanceof l&&t===this.model.version&&this.onError(e)}e&&this.inFlight--,this.schedule()}accept(e,t,n){this.answers.push({at:performance.now(),roundTrip:n}),this.answers.length>1e3&&this.answers.splice(0,500),this.onPlan(e,t,n)}schedule(){this.requestedVersion===this.model.version?!this.inFlight&&this.refinedVersion!==this.model.version&&(clearTimeout(this.timer),this.timer=window.setTimeout(()=>{!this.inFlight&&this.refinedVersion!==this.model.version&&this.refine()},Kx*(this.isCrowd()?3:1))):this.inFlight<(this.isCrowd()?1:2)&&this.requestPlan(!0)}async refine(){let e=this.model.version;await this.requestPlan(!1),e===this.model.version&&(this.refinedVersion=e)}plansPerSecond(){let e=performance.now()-1e3;return this.answers.filter(t=>t.at>e).length}},Jx=.25,Yx=class{original=new Map;scaled=new Map;static mean(e){return Xx(e.devices.map(e=>e.max_power_w))}scale(e,t){let{devices:n}=e;n.some(({id:e,max_power_w:t})=>this.scaled.get(e)!==t)&&(this.original=new Map(n.map(({id:e,max_power_w:t})=>[e,t])));let r=n.map(({id:e})=>this.original.get(e)),i=Xx(r);n.forEach((e,n)=>{e.max_power_w=i>0?r[n]*t/i:t}),this.scaled=new Map(n.map(({id:e,max_power_w:t})=>[e,t]))}},Xx=e=>e.length?e.reduce((e,t)=>e+t,0)/e.length:Jx,Zx=(e,t,n,r,i)=>({label:t,unit:``,low:n,high:r,log:!0,rule:pc,about:i,get:t=>t.weights[e],set:(t,n)=>{t.weights[e]=n}}),Qx=new Yx,$x=[{label:`Delay limit`,unit:`ms`,low:1,high:500,log:!0,rule:fc,about:`The time within which a report must arrive`,get:e=>1e3*e.max_delay_s,set:(e,t)=>{e.max_delay_s=t/1e3}},{label:`Link margin`,unit:`dB`,low:-10,high:20,log:!1,rule:dc,about:`Added to every link's path loss`,get:e=>e.radio.margin_db,set:(e,t)=>{e.radio.margin_db=t}},{label:`Transmit limit`,unit:`mW`,low:10,high:2e3,log:!0,rule:pc,about:`The mean over the devices; changing it scales all of them`,get:e=>1e3*Yx.mean(e),set:(e,t)=>Qx.scale(e,t/1e3)},{label:`Iterations`,unit:``,low:0,high:20,log:!1,rule:hc,about:`The most local iterations of a device in a round`,get:e=>e.max_iterations,set:(e,t)=>{e.max_iterations=Math.round(t)}}],eS=[Zx(`convergence`,`Convergence`,.001,1e3,`Per unit of the convergence bound`),Zx(`transmission`,`Transmission`,.01,1e4,`Per joule of transmission`),Zx(`processing`,`Processing`,1e-4,10,`Per joule of processing`),Zx(`movement`,`Movement`,1e-5,1,`Per joule of movement`)],tS=1e3;function nS(e){let t=h(`select`,{"aria-label":`Rate model`,onchange:()=>e.change(e=>{e.radio.rate_model=t.value})},h(`option`,{value:`shannon`},`Shannon`),h(`option`,{value:`pade`},`Padé (as in the paper)`));e.onChange(n=>{Xs(n)&&(t.value=e.request.radio.rate_model)});let n=h(`label`,{class:`row`},h(`span`,{},`Rate model`),t);return{limits:rS(e,$x),weights:rS(e,eS),rateModel:n}}function rS(e,t){return h(`div`,{class:`sliders`},...t.map(t=>iS(e,t)))}function iS(e,t){let n=e=>t.log?tS*Math.log(Math.max(e,t.low)/t.low)/Math.log(t.high/t.low):tS*(e-t.low)/(t.high-t.low),r=e=>t.log?t.low*(t.high/t.low)**(e/tS):t.low+(t.high-t.low)*e/tS,i=h(`input`,{type:`range`,min:0,max:tS,step:1,"aria-label":t.label,oninput:()=>a(Number(U(r(Number(i.value)),3).replace(`−`,`-`)))}),a=n=>e.change(e=>t.set(e,n)),o=new vc(`${t.label}, number`,t.rule,()=>e.request?t.get(e.request):0,a),s=NaN,c=()=>{let r=t.get(e.request);o.show(r),r!==s&&(s=r,i.value=String(n(r)),i.style.setProperty(`--part`,`${Math.min(100,Math.max(0,n(r)/tS*100))}%`),i.setAttribute(`aria-valuetext`,`${Number(r.toPrecision(4))} ${t.unit}`.trim()))};return e.onChange(e=>{Xs(e)&&c()}),h(`div`,{class:`slider`,title:t.about},h(`span`,{class:`label`},t.label),i,o.input,h(`span`,{class:`unit`},t.unit),o.message)}var aS=[{solver:`paper`,label:`Algorithm 3`,about:`The paper's algorithm; below it, its plan repaired to meet the limits`,slow:!0},{solver:`gsp`,label:`GSP`,about:`The server where the mean delay is least, power and clock at their maximum`,slow:!1},{solver:`greedy`,label:`Max VFL`,about:`Everything at its maximum, the server does not move`,slow:!1}],oS=class{model;onChange;ours=null;plans=new Map;wantSlow=!1;requested=new Set;version=-1;text=``;constructor(e,t){this.model=e,this.onChange=t}get current(){return this.version===this.model.version}finalPlan(e){[this.ours,this.version,this.text]=[e,this.model.version,this.model.requestText()],this.plans.clear(),this.requested.clear(),this.requestMissing()}requestMissing(){if(this.onChange(),this.current)for(let{solver:e,slow:t}of aS)this.requested.has(e)||t&&!this.wantSlow||(this.requested.add(e),this.request(e))}async request(e){let{version:t}=this,n;try{n=await m.plan(this.text,e,1e-4,10)}catch(e){n=e instanceof l?e.message:String(e)}t===this.version&&(this.plans.set(e,n),this.onChange())}comparison(){let{ours:e}=this,t=aS.flatMap(({solver:e,label:t})=>{let n=this.plans.get(e);return!n||typeof n==`string`?[]:[{label:t,plan:n},...n.repaired?[{label:`${t}, repaired`,plan:n.repaired}]:[]]});if(!this.current||!e||!e.devices.some(e=>e.active)||!t.length)return``;let n=t.filter(({plan:e})=>!e.violations.length);if(!n.length)return`${t.map(({label:e})=>e).join(` and `)}: none keeps its limits here.`;let{label:r,plan:i}=n.reduce((e,t)=>t.plan.objective<e.plan.objective?t:e),a=e.objective>0?i.objective/e.objective-1:0,o=a>5e-4?`, ${Ji(a)} higher`:`, the same within the gap`;return`The next best plan that keeps its limits is ${r}'s: ${U(i.objective,4)}${o}.`}},sS=[`Method`,`Limits`,`Objective`,`Active`],cS=class{rivals;element=h(`section`,{class:`rivals closed`,"aria-label":`Compare with`});positions=[];body=h(`tbody`);enabled=!1;toggle;constructor(e,t){this.rivals=e,this.toggle=h(`input`,{type:`checkbox`,role:`switch`,"aria-label":`Compare with rivals`,onchange:()=>{this.setEnabled(this.toggle.checked),t()}}),this.element.append(h(`label`,{class:`row switch`},h(`h3`,{},`Compare with`),this.toggle),h(`div`,{class:`scroll`},h(`table`,{class:`compare`},h(`thead`,{},h(`tr`,{},...sS.map(e=>h(`th`,{scope:`col`},e)))),this.body)))}setEnabled(e){e!==this.enabled&&(this.enabled=this.toggle.checked=e,this.rivals.wantSlow=e,this.element.classList.toggle(`closed`,!e),this.rivals.requestMissing())}show(){let{ours:e,plans:t}=this.rivals;if(this.positions=[],this.body.classList.toggle(`old`,!this.rivals.current),!this.enabled||!e)return;let n=[uS(`SC-DN, exact`,e,e.objective,`ours`)];for(let{solver:r,label:i,about:a,slow:o}of aS){let s=t.get(r);s===void 0?n.push(lS(i,a,`waiting`,o?`solving (takes seconds) …`:`solving …`)):typeof s==`string`?n.push(lS(i,a,`wrong`,s)):(n.push(uS(i,s,e.objective,``,a)),this.positions.push({label:i,position:s.server.position_m}),s.repaired&&n.push(uS(`… repaired`,s.repaired,e.objective,``,a)))}g(this.body,...n)}};function lS(e,t,n,r){return h(`tr`,{class:n,title:t},h(`th`,{scope:`row`},e),h(`td`,{colspan:3},r))}function uS(e,t,n,r,i=``){let{violations:a}=t,o=a.length>0,s=a.map(e=>`${e.device??`server`}: ${e.constraint} is ${U(e.value)}, limit ${U(e.limit)}`),c=U(t.objective,4),l=n>0?t.objective/n:1;return h(`tr`,{class:`${r}${o?` broken`:``}`,title:i},h(`th`,{scope:`row`},e,e.startsWith(`…`)?null:h(`small`,{},Xi(t.solve_seconds))),h(`td`,{class:o?`broken`:`feasible`,title:s.join(`
`)},o?`breaks ${a.length}`:`kept`),o?h(`td`,{class:`objective`},h(`s`,{"aria-hidden":`true`},c),h(`span`,{class:`for-readers`},`not valid, it breaks ${ea(a.length,`limit`)}: ${c}`)):h(`td`,{class:`objective`},c,l>1.0005?h(`small`,{},`${U(l,3)} × ours`):null),h(`td`,{},qs(t.devices).replace(/ devices?/,``)))}var dS=[`x`,`y`,`z`];function fS(e){let t=h(`ul`,{class:`sites`,"aria-label":`Keep-out boxes`}),n=h(`ul`,{class:`sites`,"aria-label":`Candidate sites`}),[r,i]=[``,``];return e.onChange(()=>{let{keep_out_m:a,candidates_m:o}=e.request,s=JSON.stringify([a,o,e.selected]),c=`${a.length},${o?.length??0}`,l=t.contains(document.activeElement)||n.contains(document.activeElement);s===r||c===i&&l||([r,i]=[s,c],g(t,...a.map((t,n)=>pS(e,n))),g(n,...(o??[]).map((t,n)=>mS(e,n))))}),h(`div`,{class:`site-lists`},h(`div`,{class:`row`},h(`span`,{},`Keep-out boxes`),S(`Add a box`,()=>e.addBox(),{icon:`plus`})),t,h(`p`,{class:`hint`},`The server is never inside one.`),h(`div`,{class:`row`},h(`span`,{},`Candidate sites`),S(`Add a site`,()=>e.addCandidate(),{icon:`plus`})),n,h(`p`,{class:`hint`},`With candidate sites, the server chooses only among them.`))}function pS(e,t){let n=`Box ${t+1}`,r=n=>e.request.keep_out_m[t]?.[n]??0,i=(i,a)=>{let o=e.request.region_m[i],s={get allowed(){return a?`from ${r(i)} to ${o}`:`from 0 to ${r(i+3)}`},accepts:e=>a?e>=r(i)&&e<=o:e>=0&&e<=r(i+3)},c=a?i+3:i;return new vc(`${n}, ${a?`to`:`from`} ${dS[i]} in metres`,s,()=>r(c),n=>e.change(e=>{e.keep_out_m[t][c]=n}),hS(e,`box:${t}`))},a=dS.map((e,t)=>[i(t,!1),i(t,!0)]);return gS(e,`box:${t}`,n,a.flat(),h(`div`,{class:`spans`},...a.flatMap(([e,t],n)=>[h(`span`,{},`${dS[n]} from`),e.input,h(`span`,{},`to`),t.input,h(`span`,{class:`unit`},`m`)])))}function mS(e,t){let n=`Site ${t+1}`,r=dS.map((r,i)=>new vc(`${n}, ${r} in metres`,gc(e.request.region_m[i]),()=>e.request.candidates_m?.[t]?.[i]??0,n=>e.change(e=>{e.candidates_m[t][i]=n}),hS(e,`candidate:${t}`)));return gS(e,`candidate:${t}`,n,r,h(`div`,{class:`spans single`},...r.flatMap((e,t)=>[h(`span`,{},`${dS[t]}`),e.input]),h(`span`,{class:`unit`},`m`)))}var hS=(e,t)=>({attributes:{onfocus:()=>e.select(t)}});function gS(e,t,n,r,i){return h(`li`,{class:e.selected===t?`selected`:``,"aria-label":n},h(`button`,{type:`button`,class:`plain`,title:`Select ${n.toLowerCase()}`,onclick:()=>e.select(t)},n),S(`Remove ${n.toLowerCase()}`,()=>e.remove(t),{icon:`cross`,quiet:!0}),i,...r.map(e=>e.message))}var _S=class{model;onChange;element;links=`power`;shells=`selected`;map=`follow`;altitude=50;slider=h(`input`,{type:`range`,min:0,max:1e3,"aria-label":`Altitude of the map`});text=h(`output`,{},``);selects;constructor(e,t){this.model=e,this.onChange=t,this.slider.addEventListener(`input`,()=>{this.map=`fixed`,this.altitude=Number(this.slider.value)/1e3*e.request.region_m[2],this.changed()}),this.selects={links:this.select(`links`,`Colour links by`,[[`power`,`power`],[`delay`,`delay`]]),shells:this.select(`shells`,`Reach shells`,[[`selected`,`selected device`],[`all`,`24 devices at most`],[`none`,`none`]]),map:this.select(`map`,`Objective map`,[[`follow`,`server's altitude`],[`fixed`,`chosen altitude`],[`none`,`none`]])},this.element=h(`div`,{},...Object.values(this.selects).map(e=>h(`label`,{class:`row`},h(`span`,{},e.ariaLabel??``),e)),h(`div`,{class:`slider`},h(`span`,{class:`label`},`Altitude`),this.slider,this.text,h(`span`,{class:`unit`},`m`)))}select(e,t,n){let r=h(`select`,{"aria-label":t,onchange:()=>{this[e]=r.value,this.changed()}},...n.map(([e,t])=>h(`option`,{value:e},t)));return r}changed(){this.showChoices(),this.onChange()}showChoices(){for(let e of[`links`,`shells`,`map`])this.selects[e].value=this[e]}showAltitude(){let e=this.model.request.region_m[2],t=Math.min(Math.max(this.altitude,0),e);return this.slider.value=String(1e3*t/e),this.slider.style.setProperty(`--part`,`${100*t/e}%`),this.slider.setAttribute(`aria-valuetext`,`${U(t)} m`),_(this.text,U(t)),t}address(){return{links:this.links===`power`?null:this.links,shells:this.shells===`selected`?null:this.shells,map:this.map===`follow`?null:this.map===`none`?`none`:String(Number(this.altitude.toFixed(1)))}}restore(e){let[t,n,r]=[`links`,`shells`,`map`].map(t=>e.get(t));this.links=t===`delay`?`delay`:`power`,this.shells=n===`all`||n===`none`?n:`selected`;let i=Number(r??NaN);this.map=r===`none`?`none`:Number.isFinite(i)?`fixed`:`follow`,this.map===`fixed`&&(this.altitude=i),this.changed()}},vS=[`convergence`,`transmission`,`processing`,`movement`],yS=5e-4,bS=6,xS=class{model;onPlan;element=h(`section`,{class:`what-if`,"aria-label":`What if the server were here`,hidden:!0});answers=[];sentence=h(`p`,{role:`status`});reasons=h(`ul`);body=h(`tbody`);table=h(`table`,{},h(`thead`,{},h(`tr`,{},...[`Weighted cost`,`here`,`optimum`,`difference`].map(e=>h(`th`,{scope:`col`},e)))),this.body);fault=``;request=ic(0,()=>this.plan());constructor(e,t){this.model=e,this.onPlan=t,this.element.append(h(`header`,{},h(`h3`,{},`What if the server were here?`),S(`Back to the optimum`,()=>e.setWhatIf(null),{icon:`undo`,title:`Back to the optimum (Escape)`})),this.sentence,this.table,this.reasons),e.onChange(t=>{this.element.hidden=!e.whatIf,e.whatIf&&(t===`what-if`||Xs(t))&&this.request(),e.whatIf||(this.fault=``)})}async plan(){let{model:e}=this,{whatIf:t}=e;if(!t)return;let n=performance.now(),r=JSON.stringify({...e.request,candidates_m:[t]});try{let t=await m.plan(r,`exact`,1e-4,1);if(!e.whatIf)return;[e.whatIfPlan,this.fault]=[t,``]}catch(t){if(!e.whatIf||!(t instanceof l))return;e.whatIfPlan=null,this.fault=t.faults.some(({field:e})=>e===`candidates_m`)?`The server may not be here: this is inside a keep-out box, or lower than it can fly.`:t.message}this.answers.push({at:performance.now(),roundTrip:performance.now()-n}),this.answers.length>1e3&&this.answers.splice(0,500),this.onPlan()}get forbidden(){return this.fault!==``}get label(){let{whatIfPlan:e,plan:t}=this.model;return this.fault?`not allowed here`:e&&t&&t.objective>0?`here: ${CS(e.objective/t.objective-1)}`:`here`}show(){let{whatIf:e,whatIfPlan:t,plan:n}=this.model;if(!e||!n)return;if(this.table.hidden=!t,!t){g(this.sentence,h(`strong`,{},this.fault||`Planning …`)),g(this.reasons);return}let r=n.objective>0?t.objective/n.objective-1:0,i=this.model.request.candidates_m?`the best candidate site`:`the optimum`;g(this.sentence,h(`strong`,{},`Objective ${U(t.objective,4)}: `),Math.abs(r)<yS?`the same as ${i} within the gap.`:`${SS(r)} ${i} (${U(n.objective,4)}).`),g(this.body,...vS.map(e=>h(`tr`,{},h(`th`,{scope:`row`},e),h(`td`,{},U(t.weighted[e])),h(`td`,{},U(n.weighted[e])),h(`td`,{},wS(t.weighted[e]-n.weighted[e],n.objective))))),g(this.reasons,...TS(t,n).map(e=>h(`li`,{},e)))}},SS=e=>e>=1?`${U(e+1,3)} times`:`${Ji(Math.abs(e))} ${e>0?`more than`:`less than`}`,CS=e=>Math.abs(e)<yS?`the same`:`${e>0?`+`:`−`}${Ji(Math.abs(e))}`;function wS(e,t){return Math.abs(e)<1e-4*Math.max(t,1e-12)?`0`:`${e>0?`+`:``}${U(e)}`}function TS(e,t){let n=new Map(t.devices.map(e=>[e.id,e.active])),r=e.devices.filter(({id:e,active:t})=>!t&&n.get(e)),i=e.devices.filter(({id:e,active:t})=>t&&n.get(e)===!1),a=[...new Set(r.map(({reason:e})=>e))].map(e=>`Off here only: ${ES(r.filter(t=>t.reason===e))} (${(e??``).replaceAll(`_`,` `)}).`);return i.length&&a.push(`Heard here only: ${ES(i)}.`),a}function ES(e){let t=e.length-bS;return e.slice(0,bS).map(({id:e})=>e).join(`, `)+(t>0?` and ${t} more`:``)}var DS=150,OS=200,kS=class{element=h(`div`,{class:`view plan`});model=new Qs;replanner=new qx(this.model,(e,t,n)=>this.showPlan(e,t,n),e=>this.summary.showError(e));whatIf=new xS(this.model,()=>this.showWhatIf());files=new uc(this.model);rivals=new oS(this.model,()=>this.showRivals());rivalTable=new cS(this.rivals,()=>this.address.write());finder=new Hs(this.model,{change:()=>this.finderChanged(),show:e=>this.picture?.viewport.flyTo(e.position_m)});table=new Ks(this.model,this.finder);inspector=new xc(this.model);summary=new Bx(this.model);choices=new _S(this.model,()=>this.choicesChanged());picture=null;address=new Ec(this.model,this.files,this.choices,this.finder,this.rivalTable,()=>this.viewport);lastPlan={live:!1,roundTrip:0};constructor(){this.model.onChange(e=>this.modelChanged(e)),this.build(),this.files.acceptDrops(this.element),document.addEventListener(`keydown`,e=>this.handlePageKey(e))}get viewport(){return this.picture?.viewport}get scene(){return this.picture?.scene}async start(){try{await this.files.start()}catch(e){e instanceof l&&this.summary.showError(e)}}restore(e){this.address.restore(e)}open(e,t){return this.files.open(e,t)}scenarioText(){return this.files.scenarioText()}build(){let e=h(`div`,{class:`viewport`}),{limits:t,weights:n,rateModel:r}=nS(this.model);this.element.append(h(`aside`,{class:`panel left`,"aria-label":`Network`},this.files.element,D(`Limits`,!0,t,r),D(`Weights`,!0,n),D(`Where the server may be`,!1,fS(this.model)),D(`View`,!1,this.choices.element)),h(`div`,{class:`middle`},this.files.faults,e),h(`aside`,{class:`panel right`,"aria-label":`Plan`},this.whatIf.element,this.summary.element,this.inspector.element,this.rivalTable.element,this.table.element));try{let{model:t,choices:n,finder:r,rivalTable:i,whatIf:a}=this;this.picture=new Cx(e,{model:t,choices:n,finder:r,rivals:i,whatIf:a},()=>this.inspector.show())}catch{g(e,E(`error`,`No 3-D view`,`This browser has no WebGL; plans and tables still work.`))}this.viewport?.onCamera(()=>this.address.write())}handlePageKey(e){this.element.hidden||(e.key===`Escape`&&this.model.whatIf?this.model.setWhatIf(null):e.target instanceof HTMLInputElement&&[`number`,`text`,`search`].includes(e.target.type)||!(e.ctrlKey||e.metaKey)||e.key.toLowerCase()!==`z`||(e.preventDefault(),e.shiftKey?this.model.redo():this.model.undo()))}modelChanged(e){e===`network`&&this.viewport?.setRegion(this.model.request.region_m),Xs(e)&&(this.replanner.networkChanged(),this.showRivals()),e===`what-if`&&this.showWhatIf(),this.picture?.refreshShells(),this.picture?.draw(),this.address.write()}showPlan(e,t,n){this.model.plan=e,this.lastPlan={live:t,roundTrip:n},this.followAltitude(),this.picture?.draw(),this.updateSummary();let r=this.picture?.dragging&&this.model.request.devices.length>OS;this.choices.map!==`none`&&!r&&this.picture?.refreshMap(),this.element.dataset.plans=String(Number(this.element.dataset.plans??0)+1),this.element.dataset.status=t?`live`:e.status,t||(this.rivals.finalPlan(e),this.summary.status.explain(e))}showWhatIf(){let e=this.choices.altitude;this.followAltitude(),this.choices.altitude!==e&&this.picture?.refreshMap(),this.picture?.draw(),this.updateSummary()}followAltitude(){let e=this.model.position(`planned`);this.choices.map===`follow`&&e&&(this.choices.altitude=e[2])}showRivals(){this.rivalTable.show(),this.summary.showRivals(this.rivals),this.picture?.draw()}choicesChanged(){this.followAltitude(),this.picture?.refreshMap(),this.picture?.refreshShells(),this.picture?.draw(),this.address.write()}finderChanged(){this.table.show(),this.picture?.draw(),this.address.write()}updateSummary=rc(DS,()=>{let{plan:e}=this.model;if(!e)return;let{live:t,roundTrip:n}=this.lastPlan;this.summary.show(e,t,n,this.replanner.plansPerSecond()),this.whatIf.show(),this.table.show(),this.finder.narrow&&this.picture?.draw()})},AS=4e3,jS=class{hooks;element=h(`dialog`,{class:`about-run`,"aria-labelledby":`about-run-title`});title=h(`h2`,{id:`about-run-title`});note=h(`textarea`,{rows:4,maxlength:AS,placeholder:`What was tried, and what came of it`});other=h(`select`,{onchange:()=>this.hooks.compareWith(this.other.value||null)});diff=h(`div`,{class:`settings-diff`,role:`status`});deletion=h(`div`,{class:`deletion`});faults=h(`ul`,{class:`problems`,role:`alert`});run=null;list=null;constructor(e){this.hooks=e;let t=(e,t)=>h(`label`,{class:`field`},h(`span`,{},e),t),n=h(`button`,{type:`submit`,class:`main`},`Save the note`);this.element.append(h(`form`,{method:`dialog`,onsubmit:e=>{e.preventDefault(),this.save()}},h(`header`,{},this.title,S(`Close`,()=>this.element.close(),{icon:`cross`,quiet:!0})),t(`Note`,this.note),h(`footer`,{},n),t(`Settings that differ from those of`,this.other),this.diff,this.faults,this.deletion)),this.element.addEventListener(`close`,()=>e.closed())}get isOpen(){return this.element.open}open(e,t,n){this.element.isConnected||document.body.append(this.element);let r=this.run?.run!==e.run||!this.isOpen;[this.run,this.list]=[e,t],r&&(this.title.textContent=`${e.name}: ${e.method}, seed ${e.seed}`,this.note.value=e.note,g(this.faults),g(this.other,h(`option`,{value:``},`choose a run`),...t.runs.filter(t=>!t.fault&&t.run!==e.run).map(e=>h(`option`,{value:e.run},e.run===e.study?`${e.run}: ${e.method}, seed ${e.seed}`:e.run))),this.offerDeletion()),this.other.value=n??``,this.isOpen||this.element.showModal(),this.showDiff(e.run,n)}close(){this.isOpen&&this.element.close()}async save(){await this.attempt(async()=>{await m.saveNote(this.run.run,this.note.value),C(`The note is saved`),this.hooks.changed()})}async showDiff(e,t){g(this.diff),t&&await this.attempt(async()=>{let n=await m.settingsDiff(e,t);this.other.value===t&&g(this.diff,...MS(n))})}offerDeletion(){let e=this.run,t=this.list.runs.filter(t=>t.study===e.study),n=t.length>1,r=n?`Delete the study ${e.study} (${ea(t.length,`run`)})`:`Delete this run`;g(this.deletion,S(`${r} …`,()=>this.ask(n?e.study:e.run,r),{class:`danger`}),n?h(`p`,{class:`hint`},`A study is deleted as a whole.`):null)}ask(e,t){let n=S(`Keep it`,()=>this.offerDeletion());g(this.deletion,h(`p`,{},`This removes the folder ${this.list.runs_dir}/${e} with everything in it. It cannot be undone.`),h(`div`,{class:`buttons`},n,S(t,()=>void this.remove(e),{class:`danger`}))),n.focus()}async remove(e){await this.attempt(async()=>{let{deleted:t}=await m.deleteRun(e);C(`${ea(t.length,`run`)} deleted`),this.element.close(),this.hooks.changed()})}async attempt(e){g(this.faults);try{await e()}catch(e){if(!(e instanceof l))throw e;g(this.faults,...O(e.faults,10)),this.offerDeletion()}}};function MS({differences:e,left_out:t}){if(!e.length)return[h(`p`,{},`All settings are the same.`)];let n=e=>h(`td`,{},e===null?`not set`:e);return[h(`div`,{class:`scroll`},h(`table`,{},h(`thead`,{},h(`tr`,{},...[`Setting`,`This run`,`The other`].map(e=>h(`th`,{scope:`col`},e)))),h(`tbody`,{},...e.map(({setting:e,first:t,second:r})=>h(`tr`,{},h(`th`,{scope:`row`},e),n(t),n(r)))))),t?h(`p`,{class:`hint`},`and ${t} more.`):null]}var NS=class{hidden=new Set;log=new Set;zoom=null;listeners=[];onChange(e){this.listeners.push(e)}toggleHidden(e){PS(this.hidden,e),this.changed()}toggleLog(e){PS(this.log,e),this.changed()}setZoom(e){let t=e&&[Math.max(1,Math.round(e[0])),Math.round(e[1])];this.zoom=t&&t[1]>t[0]?t:null,this.changed()}address(){let e=e=>e.size?[...e].sort().join(`,`):null;return{hide:e(this.hidden),log:e(this.log),zoom:this.zoom?.join(`-`)??null}}restore(e){let t=(e,t)=>{e.clear();for(let n of t?.split(`,`).filter(Boolean)??[])e.add(n)};t(this.hidden,e.get(`hide`)),t(this.log,e.get(`log`));let[n,r]=/^(\d+)-(\d+)$/.exec(e.get(`zoom`)??``)?.slice(1).map(Number)??[];this.setZoom(n&&r?[n,r]:null)}changed(){for(let e of this.listeners)e()}};function PS(e,t){e.delete(t)||e.add(t)}function FS(e,t){let n=(n,r,i=!1)=>{let a=e.rounds.map((n,i)=>e.deviceAt(i,t)?r(i)??null:null);return a.some(e=>e!==null)?[{label:n,y:a,planned:i}]:[]},r=n=>e.deviceAt(n,t),i=e.rounds.map(e=>IS(e.arrivals?.filter(({id:e})=>e===t).map(({staleness:e})=>e)));return[{name:`iterations`,title:`Iterations`,missing:`iterations`,lines:[...n(`planned`,e=>r(e).iterations,!0),...n(`executed`,e=>r(e).executed_iterations)]},{name:`power`,title:`Transmit power, W`,missing:`power`,lines:n(`power`,e=>r(e).power_w)},{name:`battery`,title:`Battery after the round, J`,missing:`battery (it has none)`,lines:n(`battery`,e=>r(e).battery_j)},{name:`contribution`,title:`Measured contribution to a lower loss`,missing:`measured contribution (only missions measure it)`,lines:n(`contribution`,n=>e.rounds[n].forecast?.measured?.[t])},{name:`staleness`,title:`Staleness: other reports since its previous one`,missing:`staleness (only asynchronous methods have it)`,lines:n(`staleness`,e=>i[e])}]}var IS=e=>e?.length?Math.max(...e):null,LS=class{name;choices;element;chart;title=h(`h3`);log;empty=h(`p`,{class:`hint`,role:`status`,hidden:!0},`No value is above 0, so a logarithmic axis has nothing to show.`);curves=[];constructor(e,t,n={}){this.name=e,this.choices=t,this.chart=new ma({x:`round`,y:``,height:n.height??176,fromZero:n.fromZero,rounds:!0,legend:n.legend??!1,onZoom:e=>t.setZoom(e)}),this.log=h(`button`,{type:`button`,class:`log-axis`,onclick:()=>t.toggleLog(e)},`log`),this.element=h(`section`,{class:`round-chart`},h(`header`,{},this.title,this.log),this.empty,this.chart.element),t.onChange(()=>this.draw())}show(e,t){this.curves=t,_(this.title,e),this.log.setAttribute(`aria-label`,`Logarithmic axis: ${e}`),this.draw()}mark(e){this.chart.mark(e)}draw(){let{log:e,zoom:t}=this.choices;this.log.setAttribute(`aria-pressed`,String(e.has(this.name)));let n=this.curves.flatMap(e=>e.y).filter(e=>e!==null);this.empty.hidden=!e.has(this.name)||!n.length||n.some(e=>e>0),this.chart.zoom(t),this.title.textContent&&this.chart.show(this.curves,{logX:e.has(`rounds`),logY:e.has(this.name)})}},RS=class{replay;choices;onSelect;element=h(`section`,{class:`device-panel`,"aria-label":`Device`,hidden:!0});select=h(`select`,{"aria-label":`Device`,onchange:()=>this.onSelect(this.select.value)});presence=h(`p`,{class:`hint`});missing=h(`p`,{class:`hint`});charts=new Map;host=h(`div`);device=null;constructor(e,t,n){this.replay=e,this.choices=t,this.onSelect=n,this.element.append(h(`header`,{},this.select,S(`Close the device`,()=>n(null),{icon:`cross`,quiet:!0})),this.presence,this.host,this.missing),ca(()=>this.show(this.device))}show(e){if(this.device=e,this.element.hidden=e===null||!this.replay.rounds.length,e===null||this.element.hidden)return;this.fillSelect(e),_(this.presence,zS(this.replay,e));let t=FS(this.replay,e);for(let{name:e,title:n,lines:r}of t){let t=this.chart(e);t.element.hidden=!r.length,r.length&&t.show(n,r.map(({label:e,y:t,planned:n})=>({label:e,y:t,gaps:!0,x:t.map((e,t)=>t+1),colour:W(n?`faint`:`device`),dash:n?[4,4]:void 0,width:n?1.4:2})))}let n=t.filter(({lines:e})=>!e.length).map(({missing:e})=>e);_(this.missing,n.length?`Not recorded: ${n.join(`; `)}.`:``)}mark(e){this.element.hidden||this.charts.forEach(t=>t.mark(e))}chart(e){let t=this.charts.get(e);return t||(t=new LS(`device-${e}`,this.choices,{height:140,fromZero:!0,legend:!0}),this.charts.set(e,t),this.host.append(t.element)),t}fillSelect(e){let t=this.replay.devices.includes(e)?this.replay.devices:[e,...this.replay.devices];(this.select.options.length!==t.length||t.some((e,t)=>this.select.options[t].value!==e))&&g(this.select,...t.map(e=>h(`option`,{value:e},e))),this.select.value=e}};function zS(e,t){let n=[],r=-1;return e.rounds.forEach((i,a)=>{let o=e.deviceAt(a,t)!==void 0;if(o&&r<0&&(r=a),r<0)return;let[s,c]=[!o,a===e.rounds.length-1];if(!s&&!c)return;let l=s?a-1:a,u=e.rounds[l].exited.includes(t)?`, then it left`:``;n.push(`${r===l?`round ${r+1}`:`rounds ${r+1} to ${l+1}`}${u}`),r=-1}),n.length?`Present in ${n.join(`; `)}.`:`It was in no round of this run.`}var BS=`this run`;function VS(e,t,n,r,i){let a=pa(t),o=t.some(t=>e.filter(e=>e.method===t).length>1),s=t.filter(e=>!i.has(e)).map(t=>{let i=e.filter(e=>e.method===t),{colour:s,matched:c}=a.get(t),l=!o&&t===n?.method;return{label:t,colour:s,dash:c?[2,3]:void 0,width:l?3:1.4,...HS(i,r)}});return!o||!n||i.has(`this run`)?s:[...s,{label:`${n.method}, seed ${n.seed}`,colour:a.get(n.method).colour,width:3,x:n.points.map(e=>e.round+1),y:n.points.map(e=>e[r]??null)}]}function HS(e,t){let n=new Map;for(let{points:r}of e)for(let e of r){let r=n.get(e.round)??[];e[t]!=null&&r.push(e[t]),n.set(e.round,r)}let r=[...n.keys()].sort((e,t)=>e-t),i=r.map(e=>US(n.get(e))),a=r.map(e=>WS(n.get(e))),o=e=>i.map((t,n)=>t===null?null:t+e*a[n]);return{x:r.map(e=>e+1),y:i,...e.length>1?{low:o(-1),high:o(1)}:{}}}var US=e=>e.length?e.reduce((e,t)=>e+t,0)/e.length:null;function WS(e){if(e.length<2)return 0;let t=US(e);return Math.sqrt(e.reduce((e,n)=>e+(n-t)**2,0)/(e.length-1))}var GS=class{choices;rounds;element;from=h(`input`,{type:`number`,min:1,"aria-label":`First round shown`,placeholder:`first`});to=h(`input`,{type:`number`,min:1,"aria-label":`Last round shown`,placeholder:`last`});reset=S(`Show all`,()=>this.choices.setZoom(null));log=h(`button`,{type:`button`,"aria-label":`Logarithmic horizontal axis`,onclick:()=>this.choices.toggleLog(`rounds`)},`log`);constructor(e,t){this.choices=e,this.rounds=t;for(let e of[this.from,this.to])e.addEventListener(`change`,()=>this.apply());this.element=h(`div`,{class:`zoom-bar`,role:`group`,"aria-label":`What the charts show`},h(`span`,{},`Rounds`),this.from,h(`span`,{},`to`),this.to,this.reset,this.log),e.onChange(()=>this.show()),this.show()}apply(){this.choices.setZoom([Number(this.from.value)||1,Number(this.to.value)||Math.max(this.rounds(),2)])}show(){let{zoom:e,log:t}=this.choices;this.from.value=e?String(e[0]):``,this.to.value=e?String(e[1]):``,this.reset.disabled=!e,this.log.setAttribute(`aria-pressed`,String(t.has(`rounds`)))}},KS=[[`top3`,`Top-3 accuracy, %`],[`top1`,`Top-1 accuracy, %`],[`macro_f1`,`Macro-F1`],[`auc`,`AUC`],[`ece`,`Expected calibration error`],[`mse`,`Mean squared error`],[`mae`,`Mean absolute error`],[`r2`,`R²`],[`test_loss`,`Test loss`]],qS=class{choices;element=h(`div`,{class:`curves`});metric;joules;iterations;runs=new Map;source=null;legend=h(`div`,{class:`series`,role:`group`,"aria-label":`Series`});note=h(`p`,{class:`about-curves`});study=``;selectedRun=``;drawScheduled=!1;constructor(e){this.choices=e,this.metric=new LS(`score`,e,{height:190}),this.joules=new LS(`energy`,e,{fromZero:!0}),this.iterations=new LS(`iterations`,e,{fromZero:!0}),this.element.append(h(`p`,{class:`hint`},`Score, energy and iterations are drawn here, a line for each method.`),this.legend,this.note,new GS(e,()=>this.lastRound).element,...this.charts.map(e=>e.element)),this.element.classList.add(`none`),e.onChange(()=>this.draw()),ca(()=>this.draw())}get charts(){return[this.metric,this.joules,this.iterations]}get lastRound(){return Math.max(0,...[...this.runs.values()].map(({points:e})=>e.length))}watch(e,t){this.selectedRun=t,e===this.study&&this.source?this.draw():(this.study=e,this.reopen())}reopen(){this.close(),this.study&&(this.runs.clear(),this.source=m.openPoints(this.study),this.source.addEventListener(`points`,e=>this.addPoints(JSON.parse(e.data))),this.source.addEventListener(`error`,()=>this.runs.clear()))}clear(){this.close(),this.study=this.selectedRun=``,this.runs.clear(),this.draw()}close(){this.source?.close(),this.source=null}mark(e){for(let t of this.charts)t.mark(e)}addPoints(e){let t=this.runs.get(e.run),n=t&&!e.first?t:{method:e.method??``,seed:e.seed??0,score:e.score??null,points:[]};n.points.push(...e.points),this.runs.set(e.run,n),this.drawScheduled||(this.drawScheduled=!0,requestAnimationFrame(()=>{this.drawScheduled=!1,this.draw()}))}draw(){let e=[...this.runs.entries()].filter(([,e])=>e.points.length),t=[...new Set(e.map(([,e])=>e.method))].sort((e,t)=>aa(e)-aa(t)||e.localeCompare(t)),n=this.runs.get(this.selectedRun)??null,r=t.some(t=>e.filter(([,e])=>e.method===t).length>1);this.showLegend(t,r?n:null),this.note.textContent=r?`Lines are means over the seeds that have got this far, bands one standard deviation; the chosen run is bold.`:`The chosen run is bold.`,this.note.hidden=e.length<2;let i=r=>VS(e.map(([,e])=>e),t,n,r,this.choices.hidden),[a,o]=JS(e.map(([,e])=>e));this.element.classList.toggle(`none`,!e.length),this.metric.show(o,i(a)),this.joules.show(`Cumulative energy, J`,i(`joules`)),this.iterations.show(`Iterations per device`,i(`executed_iterations`)),this.element.dataset.points=String(e.reduce((e,[,t])=>e+t.points.length,0))}showLegend(e,t){let n=pa(e),r=t?[...e,BS]:e,i=JSON.stringify([r,t?.method,t?.seed,[...this.choices.hidden],[...n.values()]]);if(this.legend.dataset.key===i)return;this.legend.dataset.key=i;let a=this.legend.contains(document.activeElement)?document.activeElement.dataset.series:null;g(this.legend,...r.map(e=>{let r=h(`i`,{class:e===`this run`?`bold`:``});return r.style.background=n.get(e===`this run`?t.method:e).colour,h(`button`,{type:`button`,class:`series-key`,"data-series":e,"aria-pressed":String(!this.choices.hidden.has(e)),title:this.choices.hidden.has(e)?`Show this series`:`Hide this series`,onclick:()=>this.choices.toggleHidden(e)},r,e===`this run`?`${t.method}, seed ${t.seed}`:e)})),a&&this.legend.querySelector(`[data-series="${CSS.escape(a)}"]`)?.focus()}};function JS(e){let t=e.find(e=>e.score)?.score;if(t){let e=t.metric.replaceAll(`_`,` `),n=e.charAt(0).toUpperCase()+e.slice(1);return KS.find(([e])=>e===t.metric)??[t.metric,t.unit?`${n}, ${t.unit}`:n]}return KS.find(([t])=>e.some(e=>e.points.some(e=>e[t]!=null)))??KS.at(-1)}var YS=class{element=h(`section`,{class:`mission`,"aria-label":`Mission`,hidden:!0});sentence=h(`p`,{class:`finding`});error=h(`p`,{class:`hint`});chart;replay=null;constructor(e){this.chart=new LS(`forecast`,e,{fromZero:!0,legend:!0}),this.element.append(h(`h3`,{},`Mission`),this.sentence,this.chart.element,this.error),ca(()=>{this.replay&&this.show(this.replay)})}show(e){this.replay=e;let t=e.rounds.filter(e=>e.forecast);if(this.element.hidden=!t.length,!t.length)return;_(this.sentence,XS(e)),this.sentence.hidden=!this.sentence.textContent;let n=(e,n,r)=>({label:e,colour:W(`method0`),dash:r,x:t.map(e=>e.round+1),y:t.map(e=>e.forecast[n]??null)});this.chart.show(`Validation loss, measured and expected`,[n(`measured`,`validation_loss`),n(`expected`,`expected_loss`,[6,4])]);let r=ZS(e);_(this.error,r===null?``:`The loss was ${Ji(r)} from the expected one, mean over rounds.`)}mark(e){this.chart.mark(e)}};function XS(e){let t=e.end?.mission;if(!t)return``;let n=e.start?.scenario.prices,r=!n||n.device===1&&n.server===1?`J`:`priced J`,i=t.priced_j==null?``:`Used ${U(t.priced_j,3)} ${r}`,a=t.bound_j==null?``:`; under these gain curves no plan needs less than ${U(t.bound_j,3)} ${r}`,o=t.ended?`Ended because ${t.ended}.`:``;return[i&&`${i}${a}.`,o].filter(Boolean).join(` `)}function ZS(e){let t=e.rounds.flatMap(({forecast:e})=>e?.expected_loss&&e.validation_loss!=null?[Math.abs(e.validation_loss-e.expected_loss)/e.expected_loss]:[]);return t.length?t.reduce((e,t)=>e+t,0)/t.length:null}var QS={mouse:16,touch:30,pen:20},$S=4;function eC(e,t,n){let r=null;e.canvas.addEventListener(`pointerdown`,e=>{r=e.button===0?{x:e.clientX,y:e.clientY}:null},{capture:!0}),e.canvas.addEventListener(`pointerup`,i=>{if(!r||Math.hypot(i.clientX-r.x,i.clientY-r.y)>$S)return;let a=e.canvas.getBoundingClientRect(),[o,s]=[QS[i.pointerType]??16,null];for(let{id:n,position:r}of t().devices){let t=e.toScreen(r),c=t?Math.hypot(t.x-(i.clientX-a.left),t.y-(i.clientY-a.top)):1/0;c<o&&([o,s]=[c,n])}n(s)})}var tC=[{name:`enters`,colour:`good`},{name:`leaves`,colour:`danger`},{name:`link fails`,colour:`failed`},{name:`replan`,colour:`server`}],nC=24,rC=48,iC=96;function aC(e){return e>rC?40:Math.max(12,e*(e>nC?2:Math.min(8,iC/nC)))}var oC=e=>e<=rC;function sC(e,t,n,r,i){let a=tC.length*11+aC(t.devices.length)+16,o=devicePixelRatio;e.width=Math.round(i*o),e.height=Math.round(a*o),e.style.height=`${a}px`;let s=e.getContext(`2d`);s.scale(o,o);let c=i/Math.max(n,1);cC(s,t,c,i),oC(t.devices.length)?lC(s,t,c,i,r):dC(s,t,c,r),fC(s,n,c,a)}function cC(e,t,n,r){let i=Math.max(1.5,Math.min(n-1,6));tC.forEach((a,o)=>{let s=o*11;e.fillStyle=W(`soft`),e.fillRect(0,s,r,10),e.fillStyle=W(a.colour),t.rounds.forEach((r,a)=>{(o===0?r.entered.length:o===1?r.exited.length:o===2?r.link_failed.length:t.replan(a))&&e.fillRect((a+.5)*n-i/2,s+1,i,8)})})}function lC(e,t,n,r,i){let a={active:W(`device`),off:W(`off`),failed:W(`failed`)},o=aC(t.devices.length)/Math.max(t.devices.length,1);t.devices.forEach((s,c)=>{let l=tC.length*11+c*o;s===i&&(e.fillStyle=W(`ink`),e.fillRect(0,l+o/2-.5,r,1));let[u,d]=[0,``];for(let r=0;r<=t.rounds.length;r++){let i=r<t.rounds.length?uC(t,r,s):``;i!==d&&(d&&(e.fillStyle=a[d],e.fillRect(u*n,l,(r-u)*n,o>2?o-1:o-.5)),[u,d]=[r,i])}})}function uC(e,t,n){return e.deviceAt(t,n)?e.rounds[t].link_failed.includes(n)?`failed`:e.isActive(t,n)?`active`:`off`:``}function dC(e,t,n,r){let[i,a]=[tC.length*11+2,aC(t.devices.length)-8],o=Math.max(...t.rounds.map(e=>e.devices.length),1),s={off:W(`off`),device:W(`device`),selected:W(`ink`)};t.rounds.forEach((c,l)=>{let u=Math.floor(l*n),d=Math.floor((l+1)*n)-u;for(let[t,n]of[[c.devices.length,`off`],[c.active.length,`device`]])e.fillStyle=s[n],e.fillRect(u,i+a*(1-t/o),d,a*t/o);r&&t.deviceAt(l,r)&&(e.fillStyle=s.selected,e.fillRect(u,i+a+2,d,3))})}function fC(e,t,n,r){let i=[1,2,5,10,20,50,100,200,500,1e3,2e3,5e3].find(e=>e*n>=34)??1e4;e.fillStyle=W(`muted`),e.font=`11px system-ui`,e.textAlign=`center`,e.textBaseline=`bottom`;for(let a=i===1?1:i;a<=t;a+=i){let i=Math.min(Math.max((a-.5)*n,8),t*n-10);e.fillText(String(a),i,r)}}var pC=`replan: the server moved (> 1 m) or a device was switched on or off`,mC=(e,t)=>h(`span`,{class:`key ${e}`},h(`i`),t),hC=class{replay;hooks;element;canvas=h(`canvas`,{"aria-hidden":`true`});marker=h(`i`,{class:`timeline-marker`,hidden:!0});slider=h(`div`,{class:`strip`,role:`slider`,"aria-label":`Round`,"aria-orientation":`horizontal`,"aria-valuemin":1},this.canvas,this.marker);devicesLabel=h(`span`,{class:`devices-lane`},`devices`);barsKey=h(`span`,{class:`keys`},mC(`active`,`active`),mC(`off`,`rests`),mC(`failed`,`link failed`));total=1;width=0;time=0;shownRound=-1;selected=null;drawScheduled=!1;pointerX=null;constructor(e,t){this.replay=e,this.hooks=t,this.element=h(`div`,{class:`timeline`},h(`div`,{class:`lanes`,"aria-hidden":`true`},...tC.map(({name:e,colour:t})=>h(`span`,{class:t},e)),this.devicesLabel),this.slider,h(`p`,{class:`timeline-legend`},this.barsKey,h(`span`,{},pC))),this.element.style.setProperty(`--lane`,`11px`),new ResizeObserver(()=>this.redraw()).observe(this.slider),ca(()=>this.redraw()),this.listen()}listen(){let{slider:e}=this;e.addEventListener(`pointerdown`,t=>{t.button===0&&this.replay.rounds.length&&(e.setPointerCapture(t.pointerId),this.dragTo(t))}),e.addEventListener(`pointermove`,t=>{e.hasPointerCapture(t.pointerId)?this.dragTo(t):e.title=this.describe(this.indexAt(t.clientX),this.deviceAt(t.clientY))}),e.addEventListener(`lostpointercapture`,()=>this.hooks.settle()),e.addEventListener(`keydown`,e=>this.pressed(e))}dragTo(e){let t=this.pointerX!==null;this.pointerX=e.clientX,t||requestAnimationFrame(()=>{this.hooks.scrub(this.indexAt(this.pointerX)),this.pointerX=null})}pressed(e){let[t,n]=[this.replay.rounds.length-1,Math.floor(this.time)],r=Math.max(5,Math.round(t/10)),i={ArrowLeft:n-1,ArrowDown:n-1,ArrowRight:n+1,ArrowUp:n+1,PageDown:n-r,PageUp:n+r,Home:0,End:t}[e.key];i===void 0||t<0||e.altKey||e.ctrlKey||e.metaKey||(e.preventDefault(),this.hooks.scrub(Math.min(Math.max(i,0),t)),this.hooks.settle())}indexAt(e){let t=this.slider.getBoundingClientRect(),n=Math.floor((e-t.left)/t.width*this.total);return Math.min(Math.max(n,0),Math.max(this.replay.rounds.length-1,0))}deviceAt(e){let{devices:t}=this.replay,n=e-this.slider.getBoundingClientRect().top-tC.length*11;return n>=0&&oC(t.length)?t[Math.floor(n/aC(t.length)*t.length)]:void 0}describe(e,t){let n=this.replay.happenings(e);return`round ${e+1} of ${this.total}${n?`: ${n}`:``}${t?`\n${t}`:``}`}update(e,t){this.total=Math.max(e,this.replay.rounds.length,1),this.selected=t,this.shownRound=-1,this.redraw()}redraw(){this.drawScheduled||(this.drawScheduled=!0,requestAnimationFrame(()=>{if(this.drawScheduled=!1,this.width=this.slider.clientWidth,!this.width)return;sC(this.canvas,this.replay,this.total,this.selected,this.width);let e=oC(this.replay.devices.length);this.devicesLabel.style.height=`${aC(this.replay.devices.length)}px`,_(this.devicesLabel,e?`devices`:`present`),this.mark(this.time)}))}mark(e){this.time=e;let t=this.replay.rounds.length,n=Math.min(Math.floor(e),t-1),r=this.width/this.total;if(this.marker.hidden=t===0,this.marker.style.transform=`translateX(${((e+.5)*r).toFixed(1)}px)`,n===this.shownRound)return;this.shownRound=n,this.slider.tabIndex=t?0:-1;let i={"aria-valuemax":String(Math.max(t,1)),"aria-valuenow":String(Math.max(n+1,1)),"aria-valuetext":t?this.describe(n):`no round yet`,"aria-disabled":String(t===0)};for(let[e,t]of Object.entries(i))this.slider.setAttribute(e,t)}},gC=[1,2,4,10,30],_C=class{replay;hooks;element;timeline;time=0;total=0;live=!0;playing=!1;speed=4;wanted=null;lastFrame=0;round=h(`output`,{class:`round`},`–`);summary=h(`p`,{class:`summary`});play=S(`Play`,()=>this.togglePlay(),{icon:`play`,quiet:!0});liveButton=S(`Live`,()=>this.goLive(),{"aria-pressed":`true`});constructor(e,t){this.replay=e,this.hooks=t,this.timeline=new hC(e,{scrub:e=>this.scrub(e),settle:t.settle});let n=h(`select`,{"aria-label":`Speed`,onchange:()=>{this.speed=Number(n.value)}},...gC.map(e=>h(`option`,{value:e,selected:e===this.speed},`${e} rounds/s`)));this.element=h(`div`,{class:`playback`},this.timeline.element,h(`div`,{class:`bar replay`},this.play,this.round,n,this.liveButton),this.summary)}get index(){return Math.min(Math.floor(this.time),this.replay.rounds.length-1)}get chosenRound(){return this.wanted===null?this.live||this.index<0?null:String(this.index+1):String(this.wanted+1)}reset(){[this.live,this.playing,this.time,this.wanted]=[!0,!1,0,null]}seek(e){let t=/^\d{1,7}$/.test(e??``)?Math.max(Number(e)-1,0):null;[this.wanted,this.live,this.playing]=[t,t===null,!1],this.replay.rounds.length&&this.arrive()}eventsArrived(e,t){let{rounds:n,over:r}=this.replay;this.total=r?n.length:Math.max(e,n.length),this.timeline.update(this.total,t),this.arrive()}arrive(){let{rounds:e,over:t}=this.replay,n=Math.max(e.length-1,0);if(this.wanted!==null&&(t||e.length>this.wanted)){let e=this.wanted>n;[this.time,this.wanted]=[Math.min(this.wanted,n),null],e&&this.hooks.settle()}this.live&&(t||n-this.time>3)&&(this.time=Math.max(this.time,t?n:n-1)),this.hooks.draw()}scrub(e){[this.live,this.playing,this.wanted]=[!1,!1,null],e!==this.time&&(this.time=e,this.hooks.draw())}togglePlay(){this.playing=!this.playing,[this.live,this.wanted]=[!1,null],this.playing&&this.time>=this.replay.rounds.length-1&&(this.time=0),this.hooks.draw(),this.hooks.settle()}goLive(){[this.live,this.playing,this.time,this.wanted]=[!0,!1,Math.max(this.replay.rounds.length-1,0),null],this.hooks.draw(),this.hooks.settle()}advance(e){let t=Math.min(e-this.lastFrame,100)/1e3;this.lastFrame=e;let n=this.replay.rounds.length-1;if(!((this.playing||this.live)&&this.time<n))return this.playing&&n>=0&&(this.playing=!1,this.show(),this.hooks.settle()),!1;let r=this.playing?this.speed:Math.max(1.5,n-this.time);return this.time=Math.min(n,this.time+t*r),this.hooks.draw(),!0}show(){let{index:e}=this;for(let t of[this.play,this.liveButton])t.disabled=e<0;this.timeline.mark(this.time),_(this.round,e<0?`–`:`round ${e+1} of ${this.total}`),_(this.summary,this.replay.roundSummary(e));let t=this.playing?`pause`:`play`;this.play.dataset.icon!==t&&(this.play.dataset.icon=t,g(this.play,x(t)),this.play.setAttribute(`aria-label`,this.playing?`Pause the replay`:`Play`)),this.liveButton.setAttribute(`aria-pressed`,String(this.live))}},vC=class{start=null;end=null;rounds=[];over=!1;fault=null;devices=[];lines=0;present=[];known=new Set;departed=[];clear(){[this.start,this.end,this.fault,this.over,this.lines]=[null,null,null,!1,0],[this.rounds,this.present,this.departed,this.devices]=[[],[],[],[]],this.known.clear()}addLine(e){this.lines++;try{let t=JSON.parse(e);t.event===`start`?this.start=t:t.event===`round`?this.addRound(t):t.event===`end`&&([this.end,this.over]=[t,!0])}catch{this.fault??=`Line ${this.lines} of its events cannot be read.`}}addRound(e){let t=this.departed[this.departed.length-1]??new Map,n=this.rounds[this.rounds.length-1],r=new Map(t);for(let e of n?.exited??[]){let t=this.present[this.present.length-1]?.get(e)?.position_m;t&&r.set(e,t)}let i=new Map((e.devices??[]).map(e=>[e.id,e]));for(let e of i.keys())r.delete(e),this.known.has(e)||this.devices.push(e),this.known.add(e);this.rounds.push(e),this.present.push(i),this.departed.push(r)}get region(){return this.start?.scenario.region_m??[100,100,100]}stateAt(e,t){if(!this.rounds.length)return Eb;let n=Math.min(Math.floor(e),this.rounds.length-1),r=Math.min(n+1,this.rounds.length-1),i=r>n?e-n:0,a=this.start?.scenario,o=this.rounds.slice(0,n+1).map(e=>e.server.position_m),s=CC(o[n],this.rounds[r].server.position_m,SC(i));return{devices:[...this.presentDevices(n,r,i),...this.departedDevices(n,i)],server:s,serverBefore:null,path:[...o,s],boxes:a?.keep_out_m??[],candidates:a?.candidates_m??[],rivals:[],selected:t,links:{measure:`power`,low:`0`,high:Qi(Math.max(...this.rounds[n].devices.map(e=>e.power_w),0))}}}presentDevices(e,t,n){let r=this.rounds[e],i=new Set(r.exited),a=new Set(r.link_failed),o=Math.max(...r.devices.map(e=>e.power_w),1e-12),s=[];for(let t of r.devices){if(!t.position_m)continue;let r=this.isActive(e,t.id),c=a.has(t.id)?`failed`:r?`active`:`off`,l=i.has(t.id)?1-n:1,u=c===`active`&&l>.5;s.push({id:t.id,position:t.position_m,state:c,opacity:l,label:xC(t.id,c,t.executed_iterations??t.iterations),linkLoad:u?t.power_w/o:null})}for(let[r,i]of this.present[t])!this.present[e].has(r)&&i.position_m&&n!==0&&s.push({id:r,position:i.position_m,state:`off`,opacity:n,linkLoad:null,label:`${r} enters`});return s}departedDevices(e,t){let n=(e,t,n)=>({id:e,position:t,state:`departed`,opacity:n,linkLoad:null,label:`${e}, cached`}),r=[...this.departed[e]].map(([e,t])=>n(e,t,1)),i=this.rounds[e].exited.flatMap(r=>{let i=this.present[e].get(r)?.position_m;return i&&t>0?[n(r,i,t)]:[]});return[...r,...i]}deviceAt(e,t){return this.present[e]?.get(t)}isActive(e,t){return this.deviceAt(e,t)?.active??this.rounds[e].active.includes(t)}replan(e){let[t,n]=[this.rounds[e-1],this.rounds[e]];if(!t||!n)return``;let r=Math.hypot(...n.server.position_m.map((e,n)=>e-t.server.position_m[n])),i=n.devices.filter(({id:t})=>this.present[e-1].has(t)&&this.isActive(e-1,t)!==this.isActive(e,t)),a=r>1?[`the server moves ${U(r,2)} m`]:[];for(let[t,n]of[[!0,`switched on`],[!1,`switched off`]]){let r=i.filter(({id:n})=>this.isActive(e,n)===t).map(({id:e})=>e);r.length&&a.push(`${yC(r)} ${r.length===1?`is`:`are`} ${n}`)}return a.join(`, `)}roundSummary(e){let t=this.rounds[e];if(!t)return``;let n=bC(t);return[`${t.active.length} of ${t.devices.length} devices active`,n,this.happenings(e)].filter(Boolean).join(` · `)}happenings(e){let t=this.rounds[e];if(!t)return``;let n=[],r=(e,t,r)=>{e.length&&n.push(`${yC(e)} ${e.length===1?t:r}`)};return r(t.entered,`enters`,`enter`),r(t.exited,`leaves`,`leave`),r(t.link_failed,`misses the delay limit`,`miss the delay limit`),[...n,this.replan(e)].filter(Boolean).join(` · `)}},yC=e=>`${e.slice(0,4).join(`, `)}${e.length>4?` and others`:``}`;function bC(e){let t=new Map;for(let{reason:n}of e.devices)n&&t.set(n,(t.get(n)??0)+1);return[...t].map(([e,t])=>`${t} ${t===1?`rests`:`rest`}: ${e.replaceAll(`_`,` `)}`).join(` · `)}var xC=(e,t,n)=>t===`active`?`${e} · ${Number.isInteger(n)?n:n.toFixed(1)} it`:t===`failed`?`${e}, link failed`:e,SC=e=>e*e*(3-2*e),CC=(e,t,n)=>e.map((e,r)=>e+(t[r]-e)*n),wC=100,TC=[`Device`,`Iterations`,`Energy`,`Battery`],EC=class{onSelect;element=h(`section`,{class:`round-devices`,hidden:!0});body=h(`tbody`);table=h(`table`,{class:`devices`},h(`thead`,{},h(`tr`,{},...TC.map(e=>h(`th`,{scope:`col`},e)))),this.body);note=h(`p`,{class:`hint`});rows=[];shown=null;selected=null;constructor(e){this.onSelect=e,this.element.append(h(`h3`,{},`Devices in this round`),h(`div`,{class:`scroll`},this.table),this.note)}show(e,t){if(e===this.shown&&t===this.selected||([this.shown,this.selected]=[e,t],this.element.hidden=!e?.devices.length,!e))return;let n=e.devices.slice(0,wC);this.table.classList.toggle(`no-battery`,e.server.battery_j==null&&e.devices.every(e=>e.battery_j==null));let r=n.length+(e.server.battery_j==null?0:1);for(;this.rows.length<r;)this.rows.push(this.emptyRow());this.body.rows.length!==r&&g(this.body,...this.rows.slice(0,r)),n.forEach((t,n)=>this.fill(this.rows[n],t,e)),r>n.length&&DC(this.rows[n.length],e.server.battery_j),_(this.note,e.devices.length>wC?`and ${e.devices.length-wC} more`:``)}emptyRow(){let e=h(`button`,{type:`button`,class:`plain`,title:`Show the curves of this device`,onclick:()=>this.onSelect(e.textContent)});return h(`tr`,{},h(`th`,{scope:`row`},e),...TC.slice(1).map(()=>h(`td`)))}fill(e,t,n){let r=e.cells[0].firstElementChild,i=t.id===this.selected,a=`${t.active?``:`off`}${i?` selected`:``}`;e.className!==a&&(e.className=a),r.disabled&&=!1,r.getAttribute(`aria-pressed`)!==String(i)&&r.setAttribute(`aria-pressed`,String(i)),_(r,t.id),_(e.cells[1],OC(t,n)),_(e.cells[2],`${U(kC(t))} J`),_(e.cells[3],t.battery_j==null?`–`:`${U(t.battery_j)} J`)}};function DC(e,t){let n=e.cells[0].firstElementChild;[e.className,n.disabled]=[`server-row`,!0],[`server`,``,``,`${U(t)} J`].forEach((t,r)=>_(r?e.cells[r]:n,t))}function OC(e,t){return t.link_failed.includes(e.id)?`link failed`:e.active??t.active.includes(e.id)?na(e.executed_iterations??e.iterations):(e.reason??`rests`).replaceAll(`_`,` `)}var kC=e=>(e.transmission_j??0)+(e.processing_j??0)+(e.circuit_j??0)+(e.idle_j??0),AC=class{replay;hooks;source=null;scheduled=!1;constructor(e,t){this.replay=e,this.hooks=t}get open(){return this.source!==null}follow(e){this.close(),this.replay.clear();let t=this.source=m.openEvents(e);t.addEventListener(`begin`,()=>this.replay.clear()),t.addEventListener(`line`,e=>{this.replay.addLine(e.data),this.schedule()}),t.addEventListener(`over`,()=>{t.close(),this.schedule()}),t.addEventListener(`error`,()=>{t.readyState===EventSource.CLOSED&&this.hooks.unreadable()})}close(){this.source?.close(),this.source=null}schedule(){this.scheduled||(this.scheduled=!0,requestAnimationFrame(()=>{this.scheduled=!1,this.hooks.arrived()}))}},jC={method:e=>e.method,status:e=>e.status,data:e=>e.dataset??``,name:e=>e.name,seed:e=>String(e.seed)};function MC(e,t){let n=[e.run,e.name,e.method,e.status,e.dataset??``,`seed ${e.seed}`,e.note].join(`
`).toLowerCase();return t.toLowerCase().split(/\s+/).filter(Boolean).every(t=>{let[r,i]=t.split(`:`,2),a=jC[r];return!a||i===void 0?n.includes(t):!i||a(e).toLowerCase()===i})}var NC=class{hooks;element;filter=h(`input`,{type:`search`,"aria-label":`Filter the runs`,placeholder:`Filter, such as vafl done seed:3`,title:`Words of name, method, status, data set, seed or note; or method:, status:, data:, name:, seed: with a value`});groups=h(`div`,{class:`list`});shown=``;constructor(e){this.hooks=e,this.element=h(`div`,{class:`run-list`},this.filter,this.groups),this.filter.addEventListener(`input`,e.filtered)}showMessage(e){this.filter.hidden=!0,this.shown=``,g(this.groups,e)}show(e,t){this.filter.hidden=!1;let n=e.runs.filter(e=>MC(e,this.filter.value)),r=e=>e.score?0:ta(e.updated),i=JSON.stringify([n.map(e=>({...e,updated:r(e)})),e.jobs,e.left_out,t,e.runs.length]);if(i===this.shown)return;this.shown=i;let a=this.groups.contains(document.activeElement)?document.activeElement.dataset.run:void 0,o=new Map;for(let e of n)o.set(e.study,[...o.get(e.study)??[],e]);let s=new Set(e.runs.map(e=>e.job)),c=e.jobs.filter(e=>!s.has(e.job)&&e.state!==`done`&&e.state!==`stopped`);g(this.groups,...c.map(PC),...[...o].map(([n,r])=>FC(n,r,e.jobs,t,this.hooks.select)),n.length<e.runs.length?h(`p`,{class:`hint`,role:`status`},`${n.length} of ${ea(e.runs.length,`run`)}.`):null,e.left_out?h(`p`,{class:`hint`},`and ${ea(e.left_out,`older run`)}.`):null),a!==void 0&&this.groups.querySelector(`[data-run="${CSS.escape(a)}"]`)?.focus()}};function PC(e){return h(`section`,{class:`study`},h(`header`,{},h(`h3`,{},e.job),RC(e.state)),e.state===`failed`?h(`pre`,{class:`log failed`},e.log):h(`p`,{class:`hint`},`Preparing data and models …`))}function FC(e,t,n,r,i){let a=t[0],o=e===`.`?a.name:e,s=n.find(e=>e.job===a.job&&e.state===`failed`),c=[...t].sort((e,t)=>aa(e.method)-aa(t.method)||e.method.localeCompare(t.method)||e.seed-t.seed).map(e=>h(`li`,{},IC(e,e.run===r,i),e.note?h(`p`,{class:`note`},e.note):null));return h(`section`,{class:`study`},h(`header`,{},h(`h3`,{title:e},o),h(`small`,{},`${a.dataset??``} ${t.length>1?`· ${ea(t.length,`run`)}`:``}`)),h(`ul`,{},...c),s?h(`pre`,{class:`log failed`},s.log):null)}function IC(e,t,n){if(e.fault)return h(`div`,{class:`run broken`},h(`span`,{},e.run),h(`small`,{},e.fault));let r=h(`i`,{class:`bar ${e.status}`});return r.style.setProperty(`--part`,`${e.status===`done`?100:e.rounds?100*e.done/e.rounds:0}%`),h(`button`,{type:`button`,class:`run`,"aria-pressed":String(t),"data-run":e.run,onclick:()=>n(e)},h(`span`,{class:`who`},h(`b`,{},e.method),h(`small`,{},`seed ${e.seed}`)),h(`span`,{class:`status`},e.status===`done`?h(`small`,{},e.score??ta(e.updated)):RC(e.status)),r)}function LC(e){return e.reached?`${e.label}: reached in round ${e.round+1}, ${U(e.joules)} J, ${Xi(e.seconds)}`:`${e.label}: not reached`}function RC(e){return h(`span`,{class:`chip ${e}`},e)}var zC={running:[[`pause`,`Pause`,`pause`],[`stop`,`Stop`,`stop`]],paused:[[`go-on`,`Continue`,`play`],[`stop`,`Stop`,`stop`]],stopped:[[`resume`,`Resume`,`again`]],failed:[[`resume`,`Try again`,`again`]]},BC=class{hooks;element;title=h(`div`,{class:`title`});actions=h(`div`,{class:`buttons`});targets=h(`ul`,{class:`run-targets`,"aria-label":`Targets`,hidden:!0});logText=h(`pre`,{class:`log`});log=h(`details`,{class:`job-log`,hidden:!0},h(`summary`,{},`Log of its job, last lines`),this.logText);shown=``;constructor(e){this.hooks=e,this.element=h(`div`,{class:`run-header`},h(`div`,{class:`bar top`},this.title,this.actions),this.targets,this.log)}show(e,t,n,r,i){if(this.element.hidden=!e,!e)return;this.showLog(t);let a=JSON.stringify([e,t?.state,n,r]);if(this.shown===a)return;this.shown=a,g(this.title,h(`strong`,{},e.method),h(`span`,{},`${e.name}, seed ${e.seed}`),n?RC(e.status):h(`span`,{class:`chip failed`,role:`alert`},`the server does not answer`),n&&r?h(`span`,{class:`time-left`},r):null),g(this.targets,...e.targets.map(e=>h(`li`,{},LC(e)))),this.targets.hidden=!e.targets.length;let o=this.actions.contains(document.activeElement)?document.activeElement.getAttribute(`aria-label`):null;g(this.actions,...n?this.actionButtons(e,t,i):[],S(`Notes and settings`,this.hooks.about,{title:`Notes, settings and deletion of this run`})),o&&this.actions.querySelector(`[aria-label="${CSS.escape(o)}"]`)?.focus()}showLog(e){this.log.hidden=!e;let t=e?.log||`It has printed nothing yet.`;this.logText.textContent!==t&&(this.logText.textContent=t,this.logText.scrollTop=this.logText.scrollHeight)}actionButtons(e,t,n){return t?(e.status===`done`||e.status===`diverged`)&&(t.state===`running`||t.state===`paused`)?[]:(zC[t.state]??[]).map(([e,n,r])=>S(n,()=>void this.act(t.job,e),{icon:r})):e.status===`unfinished`?[S(`Copy command`,()=>void VC(e,n),{icon:`copy`,title:`Copy the command that resumes this run`})]:[]}async act(e,t){try{await m.jobAction(e,t)}catch(e){e instanceof l&&C(e.message,`fault`)}this.hooks.changed()}};async function VC(e,t){let n=`scdn run --resume ${t}/${e.run}`;await navigator.clipboard.writeText(n).catch(()=>{}),C(n)}var HC=class{plannedScenario;onStarted;element=h(`dialog`,{class:`start`,"aria-labelledby":`start-title`});scenario=h(`textarea`,{rows:11,spellcheck:`false`,"aria-label":`Scenario`});name=h(`input`,{type:`text`,pattern:`[A-Za-z0-9][A-Za-z0-9._\\-]*`,maxlength:60,required:!0});seeds=h(`input`,{type:`number`,min:1,max:50,value:`1`});rounds=h(`input`,{type:`number`,min:1,placeholder:`as written`});methods=h(`div`,{class:`methods`});goal=h(`select`,{},...[[``,`as written`],[`energy`,`least energy`],[`time`,`least time`],[`best`,`best model`]].map(([e,t])=>h(`option`,{value:e},t)));target=h(`input`,{type:`text`,placeholder:`as written`,title:`A metric and a value, such as top3=95`});budget=h(`input`,{type:`number`,min:0,step:`any`,placeholder:`as written`});deadline=h(`input`,{type:`number`,min:0,step:`any`,placeholder:`as written`});mission=h(`fieldset`,{class:`mission-settings`});faults=h(`ul`,{class:`problems`,role:`alert`});source=h(`select`,{"aria-label":`Scenario to start from`});startButton;constructor(e,t){this.plannedScenario=e,this.onStarted=t}async open(e){if(!this.element.isConnected){document.body.append(this.element);let[e,t]=await Promise.all([m.about(),m.examples()]);this.build(e,t.filter(e=>e.name.endsWith(`.toml`)))}e&&this.choose(e),g(this.faults),this.name.value=`run-${new Date().toISOString().slice(0,19).replace(/[-:]/g,``).replace(`T`,`-`)}`,this.element.showModal()}build(e,t){this.source.append(...t.map(e=>h(`option`,{value:e.name},e.name)),h(`option`,{value:`plan`},`the network under Plan`),h(`option`,{value:`file`},`a file …`)),this.source.addEventListener(`change`,()=>void this.loadScenario(t));let n=t.find(e=>e.name===`quick.toml`)??t[0];n&&(this.source.value=n.name,this.scenario.value=n.text),this.methods.append(...e.methods.map(e=>h(`label`,{title:e.about},h(`input`,{type:`checkbox`,value:e.name,checked:e.name===`mission`,onchange:()=>this.showMission()}),e.name)));let r=(e,t)=>h(`label`,{class:`field`},h(`span`,{},e),t);this.mission.append(h(`legend`,{},`Mission`),h(`div`,{class:`fields`,"data-count":4},r(`Goal`,this.goal),r(`Target`,this.target),r(`Budget, J`,this.budget),r(`Deadline, s`,this.deadline))),this.startButton=h(`button`,{type:`submit`,class:`main`},`Start`);let i=h(`form`,{method:`dialog`,onsubmit:e=>{e.preventDefault(),this.start()}},h(`header`,{},h(`h2`,{id:`start-title`},`Start a run`),S(`Close`,()=>this.element.close(),{icon:`cross`,quiet:!0})),r(`Scenario`,this.source),this.scenario,h(`fieldset`,{},h(`legend`,{},`Methods (several are compared on the same network)`),this.methods),this.mission,h(`div`,{class:`fields`,"data-count":3},r(`Name`,this.name),r(`Seeds`,this.seeds),r(`Rounds`,this.rounds)),h(`p`,{class:`hint`},`It is recorded in ${e.new_runs_dir}.`),this.faults,h(`footer`,{},S(`Cancel`,()=>this.element.close()),this.startButton));g(this.element,i),this.showMission()}choose(e){this.source.value=e,this.source.dispatchEvent(new Event(`change`))}get chosenMethods(){return[...this.methods.querySelectorAll(`input:checked`)].map(e=>e.value)}showMission(){this.mission.hidden=!this.chosenMethods.includes(`mission`)}get missionSettings(){let e={};return this.goal.value&&(e.goal=this.goal.value),this.target.value.trim()&&(e.target=this.target.value.trim()),this.budget.value&&(e.budget_j=Number(this.budget.value)),this.deadline.value&&(e.deadline_s=Number(this.deadline.value)),this.mission.hidden||!Object.keys(e).length?null:e}async loadScenario(e){let t=this.source.value;try{t===`file`?T(`.toml,.json`,(e,t)=>{this.scenario.value=t}):t===`plan`?this.scenario.value=await this.plannedScenario():this.scenario.value=e.find(e=>e.name===t)?.text??``}catch(e){this.showFaults(e)}}async start(){g(this.faults);let e=this.chosenMethods;if(!e.length)this.showFaults(new l([{field:`methods`,found:`none is selected`,allowed:`select at least one`}],422));else{this.startButton.disabled=!0;try{let t=await m.start({name:this.name.value,scenario:this.scenario.value,methods:e,seeds:Number(this.seeds.value)||1,rounds:this.rounds.value?Number(this.rounds.value):null,mission:this.missionSettings});this.element.close(),this.onStarted(t.job)}catch(e){this.showFaults(e)}finally{this.startButton.disabled=!1}}}showFaults(e){let t=e instanceof l?e.faults:[{field:`studio`,found:String(e),allowed:``}];g(this.faults,...O(t,10))}};function UC(e,t){let n=e.rounds-t.rounds.length,r=t.rounds.slice(-10).map(({seconds:e})=>e).filter(Number.isFinite).sort((e,t)=>e-t);if(e.status!==`running`||t.over||n<=0||!r.length)return``;let i=t.start?.method===`mission`,a=WC(n*r[Math.floor(r.length/2)]);return`${i&&!a.startsWith(`less`)?`at most `:``}${a} left`}function WC(e){if(e<50)return`less than a minute`;let t=Math.round(e/60);if(t<90)return`about ${Math.max(t,1)} min`;let n=Math.round(t/60);return n<48?`about ${n} h`:`about ${Math.round(n/24)} days`}var GC=1500,KC=150,qC=class{element=h(`div`,{class:`view runs`});replay=new vC;choices=new NS;curves=new qS(this.choices);mission=new YS(this.choices);playback=new _C(this.replay,{draw:()=>this.draw(),settle:()=>this.settle()});viewport;roundTable=new EC(e=>this.selectDevice(e===this.device?null:e));devicePanel=new RS(this.replay,this.choices,e=>this.selectDevice(e));header=new BC({about:()=>this.openAbout(null),changed:()=>void this.refreshRuns()});listPanel=new NC({select:e=>this.select(e,!0),filtered:()=>this.filterRuns()});about=new jS({compareWith:e=>this.openAbout(e),changed:()=>void this.refreshRuns(),closed:()=>s(`run`,{about:null,with:null})});events=new AC(this.replay,{arrived:()=>this.eventsArrived(),unreadable:()=>this.showCover(E(`error`,`The run cannot be read`,`It may have been removed.`))});dialog;scene;cover=h(`div`,{class:`cover`});list=null;selected=null;wanted=null;device=null;startedJob=null;timer=0;settling=0;visible=!1;answering=!0;followed=``;constructor(e){this.dialog=new HC(e,e=>{this.startedJob=e,C(`${e} has started`),this.refreshRuns()}),this.build(),this.choices.onChange(()=>s(`run`,this.choices.address())),document.addEventListener(`visibilitychange`,()=>this.updateSubscriptions())}openDialog(e){return this.dialog.open(e)}get time(){return this.playback.time}build(){let e=h(`div`,{class:`viewport`});this.element.append(h(`aside`,{class:`panel left`,"aria-label":`Runs`},h(`div`,{class:`row`},h(`h2`,{},`Runs`),S(`New run`,()=>void this.dialog.open(),{icon:`plus`,class:`main`})),this.listPanel.element),h(`div`,{class:`middle`},this.header.element,e,this.playback.element),h(`aside`,{class:`panel right`,"aria-label":`Curves`},this.devicePanel.element,this.mission.element,this.curves.element,this.roundTable.element));try{this.viewport=new yx(e)}catch{g(e,E(`error`,`No 3-D view`,`This browser has no WebGL; the curves are still drawn.`))}e.append(this.cover),this.viewport&&(this.scene=new Ob(this.viewport),kb(this.viewport),new Uy(this.scene),wc(this.viewport,`run`),eC(this.viewport,()=>this.scene.state,e=>this.selectDevice(e)),this.viewport.beforeFrame(e=>this.playback.advance(e)))}async start(){this.listPanel.showMessage(E(`loading`,`Looking for runs`)),this.playback.show(),this.showCover(E(`loading`,`Looking for runs`))}shown(){this.visible=!0,this.updateSubscriptions()}hidden(){this.visible=!1,this.updateSubscriptions()}restore(e){this.choices.restore(e),this.listPanel.filter.value=e.get(`filter`)??``,this.wanted=e,this.list&&this.showRuns()}updateSubscriptions(){clearTimeout(this.timer),this.visible&&!document.hidden?(this.refreshRuns(),this.selected&&!this.events.open&&this.follow(this.selected)):(this.events.close(),this.curves.close())}async refreshRuns(){clearTimeout(this.timer);try{this.list=await m.runs(),this.answering=!0,this.showRuns()}catch(e){if(!(e instanceof l))throw e;this.answering=!1,this.listPanel.showMessage(E(`error`,`The studio does not answer`,e.message)),this.showHeader()}this.visible&&!document.hidden&&(this.timer=window.setTimeout(()=>void this.refreshRuns(),GC))}showRuns(){let e=this.list,t=e.runs.filter(e=>!e.fault),[n,r]=[this.wanted,this.wanted?.get(`run`)??null];this.wanted=null;let i=this.startedJob?t.find(e=>e.job===this.startedJob):void 0;i&&(this.startedJob=null);let a=r?t.find(e=>e.run===r):void 0;r&&!a&&(C(`There is no run ${r} here`,`fault`),s(`run`,{run:this.selected?.run??null,round:this.playback.chosenRound,device:this.device,about:null,with:null}));let o=t.find(e=>e.run===this.selected?.run);this.selected&&!o&&!i&&!a&&C(`${this.selected.run} is no longer there`);let c=i??a??o??t.find(t=>t.run===e.opened)??t[0]??null,l=c?.run===this.selected?.run,u=l&&c?.status!==this.selected?.status;this.selected=l?c:this.selected,u&&this.replay.start&&!this.replay.rounds.length&&!this.replay.fault&&this.showCover(this.noRound()),c&&!l?this.select(c,i!==void 0,r===c.run||!r?n:null):c&&n&&(a||!r)&&this.restoreRun(n),c?this.listPanel.show(e,c.run):this.showNoRun(e),this.showHeader()}showNoRun(e){this.selected&&this.leaveRun(),e.runs.length||e.jobs.length?(this.listPanel.show(e,null),this.showCover(E(`loading`,`A run is being prepared`,`Its first round will be shown here.`))):(this.listPanel.showMessage(E(`empty`,`No run yet`,`No run is recorded in ${e.runs_dir}. Start one here, or with scdn run.`,S(`New run`,()=>void this.dialog.open(),{icon:`plus`}))),this.showCover(E(`empty`,`Nothing to watch yet`,`A run appears here when its first round is written.`)))}leaveRun(){this.events.close(),this.curves.clear(),[this.selected,this.device]=[null,null],this.replay.clear(),this.playback.reset(),this.scene?.draw(Eb),this.eventsArrived(),s(`run`,{run:null,round:null,device:null})}filterRuns(){s(`run`,{filter:this.listPanel.filter.value||null}),this.list&&this.listPanel.show(this.list,this.selected?.run??null)}select(e,t,n=null){this.selected=e,this.device=null,this.follow(e),this.list&&this.listPanel.show(this.list,e.run),this.showHeader(),s(`run`,{run:e.run,round:n?.get(`round`)??null,device:n?.get(`device`)??null},t),n&&this.restoreRun(n)}restoreRun(e){this.device=e.get(`device`),this.playback.seek(e.get(`round`)),this.showDevice(),e.has(`about`)?this.openAbout(e.get(`with`)):this.about.close()}openAbout(e){this.selected&&this.list&&(this.about.open(this.selected,this.list,e),s(`run`,{about:``,with:e}))}showHeader(){let e=this.list?.jobs.find(e=>e.job===this.selected?.job);this.header.show(this.selected,e,this.answering,this.selected?UC(this.selected,this.replay):``,this.list?.runs_dir??``)}showCover(e){g(this.cover,e),this.cover.hidden=e===null}follow(e){let t=this.playback.chosenRound,n=e.run===this.followed;this.followed=e.run,this.replay.clear(),this.playback.reset(),n&&this.playback.seek(t),this.mission.show(this.replay),Object.assign(this.element.dataset,{rounds:`0`,over:`false`}),this.scene?.draw(Eb),this.showCover(E(`loading`,`Reading the run`)),this.curves.watch(e.study,e.run),this.events.follow(e.run)}eventsArrived(){let{replay:e}=this;e.rounds.length&&this.viewport?.setRegion(e.region),this.mission.show(e),e.fault?this.showCover(E(`error`,`This run is damaged`,e.fault)):this.showCover(e.rounds.length?null:this.noRound()),this.devicePanel.show(this.device),this.playback.eventsArrived(this.selected?.rounds??0,this.device),this.showHeader(),Object.assign(this.element.dataset,{rounds:String(e.rounds.length),over:String(e.over)})}noRound(){return this.selected?.status===`running`||this.selected?.status===`paused`?E(`loading`,`Waiting for the first round`):E(`empty`,`No round is recorded`,`This run stopped before the end of its first round.`)}selectDevice(e){e!==this.device&&(this.device=e,s(`run`,{device:e},!0),this.showDevice())}showDevice(){this.devicePanel.show(this.device),this.device&&(this.element.querySelector(`.panel.right`).scrollTop=0),this.playback.timeline.update(this.playback.total,this.device),this.draw()}settle(){clearTimeout(this.settling),this.settling=window.setTimeout(()=>s(`run`,{round:this.playback.chosenRound}),KC)}draw(){let{index:e}=this.playback;this.scene?.draw(this.replay.stateAt(this.time,this.device&&`device:${this.device}`)),this.playback.show();let t=e<0?null:this.time+1;for(let e of[this.curves,this.mission,this.devicePanel])e.mark(t);this.roundTable.show(this.replay.rounds[e]??null,this.device)}};la();var JC=new kS,YC=new qC(()=>JC.scenarioText()),XC=new mo,ZC=new Rs({planByHand:sw,startRun:cw}),QC={introduction:ZC,plan:JC,run:YC,compare:XC},$C=document.getElementById(`main`),ew=m.about(),tw=new Map,nw=null;function rw(e,t){let n=o(e,t);e!==nw&&iw(e),tw.get(e).then(()=>{nw===e&&QC[e].restore?.(n)})}function iw(e){nw&&QC[nw].hidden?.();let t=$C.contains(document.activeElement);nw=e;for(let t of n)QC[t].element.hidden=t!==e,document.querySelector(`nav a[href="#${t}"]`)?.setAttribute(`aria-current`,t===e?`page`:`false`);t&&$C.focus(),document.title=`${aw(e)} · scdn studio`,tw.has(e)||tw.set(e,QC[e].start?.()??Promise.resolve()),QC[e].shown?.()}var aw=e=>e[0].toUpperCase()+e.slice(1);function ow(){let{view:e,parameters:t}=a();e?rw(e,t):ew.then(e=>rw(e.view===`introduction`&&Ls()?`plan`:e.view,t),()=>rw(`plan`,t))}async function sw(e){location.hash=`plan`,rw(`plan`,new URLSearchParams),await tw.get(`plan`),await JC.open(`wildfire.json`,JSON.stringify(e))}function cw(e){location.hash=`run`,rw(`run`,new URLSearchParams),YC.openDialog(e)}function lw(){let e=S(`Switch between light and dark`,da,{quiet:!0,icon:sa()?`sun`:`moon`,class:`theme`});ca(()=>g(e,x(sa()?`sun`:`moon`)));let t=h(`span`,{class:`runs-folder`});ew.then(({runs_dir:e,new_runs_dir:n,opened:r,version:i})=>{g(t,h(`bdi`,{},r?`${e}/${r}`:e)),t.title=`New runs are recorded in ${n}; scdn ${i}`}).catch(()=>{}),g(document.getElementById(`top`),h(`span`,{class:`brand`},h(`b`,{},`scdn`),` studio`),h(`nav`,{"aria-label":`Views`},...n.map(e=>h(`a`,{href:`#${e}`},aw(e)))),t,e)}lw();for(let e of Object.values(QC))$C.append(e.element);addEventListener(`hashchange`,ow),ow(),document.querySelector(`a.skip`).addEventListener(`click`,e=>{e.preventDefault(),$C.focus()}),Object.assign(window,{studio:{introduction:ZC,plan:JC,run:YC,compare:XC,format:qi}});