package secrets

// commonGrams are the grams that code and documentation hold most, the most frequent
// first, with each byte as foldByte gives it. They were counted in the Go distribution
// and in modules.
const commonGrams = "" +
	"   *  ion ththetio = he enting re*))ate coed comest incon)))onsint\": tesith//  {* to anres" +
	"foror terodestratiandpen  \"on ver,* ameopees is ng to protypecterrcodype: \"tri a ersted 0x" +
	"nteer nd ret - turallgit  -cti se go:* st nam stena{*)httdatttp.co, 0rin foif in stase thi" +
	"etuuncle age\",  of isorts ahis ma** urnfunmenreae tsioof  nonai*// demodnt re thuuseequont" +
	"serouthubextparche:// pressps:aserep, \"endval wilinrunileareporeadrat)*)refe aom/tpss:/tru" +
	".go fi pa\",*elego pat/ops t lie spre= \"reqwit befilanglicinemple cplelesptiquets chaist ex" +
	"notcalub.tine: *#  cableerarn {* }**ompapi\"*  usderrormite\":rronsenerll eveassan rsigetact" +
	"ulen t: {tate isetuesde b.cain###red erlatd te, desencat nal}* )}*matkey-go teathsys  },*)" +
	"it th sel**#/cotorste arhatnst tr  rleaper chitescrndetexataicete ten moablpkgommhanher or" +
	")**criepoaras: gencats, ult}*)ripdendef.**ce e f ru  saluackot )*  := if:= /gi},*sessonipt" +
	"overannctireme cesgo.idee llueputlocnti  i na)if) {e of ttchworgooal hre dopact t enthaene" +
	" upns go/alsescbasoduindut devly venoure r di ont sespramensatcon\")re)//ntsappn a  =---o t" +
	"t, ustantgleupdde>traen ullcre va;* oolacees.ge pdarit.de vemetcanoredulertrue alliself ne" +
	"lanlowincch t aopt # et s i laoneregereaddivespoime\"htngeexpposrecerv cleat, a'''varar jso" +
	"ormttee p))} as itargas t itim apr tinsn:  }*erneckemejec.rencerenclohec*}*e =sti/go acsto" +
	"temthoef=a h*** hrsec un //ureoogbe impogl  cnewpons o bulet byorkd a000on:}}**)} opheafie" +
	"pla</a/a>alilemlseokele.len= {rt <a ai/ete whclushaev/pe\", e so mef=\"ssidin suancyountas:*" +
	"onfe**i/oai-cli fat cbuti-gssedirampne on.n\":m/ome:niletarceitiouneaslie  encl*- /pkien ha" +
	"curs.*lud niid o.dis.ailg.gct ve ighes:ld = 0tomkg.  # --rom//prr s slf.ry dis, tdeldepume" +
	"*)/rouizeacc gerot fu yopecicaattitye* d itoo**)achuted b shs =auttagastsou>**oca  d\"ty  t" +
	"ntrudestskenuntege **qui !=lasexames bafincladoce.*nfi frnc  le* *mai=\"harturc \"ascalloord" +
	"ototresinote*fuesemintok(hte d!= , sloapriies \"de ee m);*har ty  a202ocktar },()  {\"und \"$" +
	" \"st* bytisss**ialrch loignsed si}(hghtytecastaiecotaluct//gpe  \"tepe**<ropract o*)i\"*)sho" +
	"pesrel pu  {, ce gownlog0x4= 'xam giitswrispeby hen== n icenfro { ))rom ill  /tabemp \"pe v" +
	"r a))*arcfiger.v1.manifis fts.nchoryt =ds }, \"re po === ned.litfalil ng.eri adhasuirnt. id" +
	"inarnagesade))ichospav/ge n {}*desdkrigesue we < ta  pnnendi  fnumckamarorioinrs lid  g*)r" +
	"ors/v3efiini  b\")*ethue*d s\"dekagon(*##===**/t rr irtitic## ildcceany bo), o/vmpo\x7frep>*.* " +
	"pli het: e b**f, b wesiguilribsulrucbuinedatueldetin oflod,  els cs\":sitcteuthuni |*iellec" +
	": uy a...d =ose**{</cnetgindowstdrevn, , i da<coorg</ptivremnesbradecrvededn s{{ gro wass " +
	" syoad*th ou }}te*ublsenr cnonrma spsizrtes nblid fmmitiarres rou pper, efa, ohou \"lrge, r"
